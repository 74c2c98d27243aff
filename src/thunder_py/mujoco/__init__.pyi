from .export import to_mjcf as to_mjcf
from .plant import MujocoPlant as MujocoPlant
from .rendering import Renderer as Renderer
from .rendering import Viewpoint as Viewpoint
from .rendering import render as render
from .rendering import render_video as render_video
from .viewer import view as view
