from .controller import ControllerNode as ControllerNode
from .middleware import Middleware as Middleware
from .middleware import Publisher as Publisher
from .reference import ReferenceNode as ReferenceNode
from .robot import RobotNode as RobotNode
