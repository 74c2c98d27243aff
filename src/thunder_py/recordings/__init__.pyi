from . import downloads as downloads
from . import loaders as loaders
from . import metrics as metrics
from . import processing as processing
from . import statistics as statistics
from . import synthetic as synthetic
from .motion_set import MotionSet as MotionSet
from .trial import Trial as Trial
