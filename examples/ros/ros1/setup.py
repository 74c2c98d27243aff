"""Where catkin finds the package of the nodes; not for pip."""

from catkin_pkg.python_setup import generate_distutils_setup
from setuptools import setup

setup(**generate_distutils_setup(packages=["thunder_ros"], package_dir={"": "src"}))
