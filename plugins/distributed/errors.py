"""The errors of groups and stores, whose types the library of C++ registers."""

from lamella.library import error_class

from .library import face

face()
DistError = error_class("DistError")
DistBackendError = error_class("DistBackendError")
DistNetworkError = error_class("DistNetworkError")
DistStoreError = error_class("DistStoreError")
