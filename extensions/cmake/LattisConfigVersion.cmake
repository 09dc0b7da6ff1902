# The ABI that the headers declare answers for compatibility: find_package(Lattis 1.0) takes 1.x, x at least 0.

file(READ "${CMAKE_CURRENT_LIST_DIR}/../include/lattis/version.h" LATTIS_HEADER)
foreach(PART MAJOR MINOR)
  if(NOT LATTIS_HEADER MATCHES "#define LATTIS_ABI_${PART} ([0-9]+)")
    message(FATAL_ERROR "find_package(Lattis): include/lattis/version.h does not define LATTIS_ABI_${PART}: "
                        "install lattis-headers, or lattis again")
  endif()
  set(LATTIS_${PART} ${CMAKE_MATCH_1})
endforeach()
set(PACKAGE_VERSION ${LATTIS_MAJOR}.${LATTIS_MINOR})
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(NOT PACKAGE_FIND_VERSION OR (PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION AND
                                "${LATTIS_MAJOR}" STREQUAL "${PACKAGE_FIND_VERSION_MAJOR}"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
