from . import description as description
from . import inertia as inertia
