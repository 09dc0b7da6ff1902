# Made by `make stubs` from the live registry; a test compares. Do not edit.
__all__: list[str]
from lamella.optim import lr_scheduler as lr_scheduler
from lamella.optim import swa_utils as swa_utils
from lamella.optim.asgd import ASGD as ASGD
from lamella.optim.adadelta import Adadelta as Adadelta
from lamella.optim._adafactor import Adafactor as Adafactor
from lamella.optim.adagrad import Adagrad as Adagrad
from lamella.optim.adam import Adam as Adam
from lamella.optim.adamw import AdamW as AdamW
from lamella.optim.adamax import Adamax as Adamax
from lamella.optim.lbfgs import LBFGS as LBFGS
from lamella.optim._muon import Muon as Muon
from lamella.optim.nadam import NAdam as NAdam
from lamella.optim.optimizer import Optimizer as Optimizer
from lamella.optim.radam import RAdam as RAdam
from lamella.optim.rmsprop import RMSprop as RMSprop
from lamella.optim.rprop import Rprop as Rprop
from lamella.optim.sgd import SGD as SGD
from lamella.optim.sparse_adam import SparseAdam as SparseAdam
from lamella.optim._swap import swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state
