from .arm import InterceptionNode as InterceptionNode
from .arm import PickingNode as PickingNode
from .arm import ThrowingNode as ThrowingNode
from .pictures import CameraNode as CameraNode
from .pictures import PoseNode as PoseNode
from .tasks import TASKS as TASKS
from .tasks import chosen_task as chosen_task
