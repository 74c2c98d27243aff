from .export import to_mjcf as to_mjcf
from .plant import MujocoPlant as MujocoPlant
from .rendering import Camera as Camera
from .rendering import Renderer as Renderer
from .rendering import film as film
from .rendering import render as render
from .viewer import view as view
