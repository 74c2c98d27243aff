from .drawing import power_law_curves as power_law_curves
from .reaching import SigmaLognormal as SigmaLognormal
from .reaching import daily_living as daily_living
from .reaching import minimum_jerk_reaches as minimum_jerk_reaches
from .reaching import sigma_lognormal_reaches as sigma_lognormal_reaches
