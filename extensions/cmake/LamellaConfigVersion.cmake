# The version is that of the ABI which the headers declare: find_package(Lamella 1.0) takes 1.x, x at least 0.

file(READ "${CMAKE_CURRENT_LIST_DIR}/../include/lamella/version.h" LAMELLA_HEADER)
foreach(PART MAJOR MINOR)
  if(NOT LAMELLA_HEADER MATCHES "#define LAMELLA_ABI_${PART} ([0-9]+)")
    message(FATAL_ERROR "find_package(Lamella): include/lamella/version.h does not define LAMELLA_ABI_${PART}: "
                        "install lamella-headers, or lamella again")
  endif()
  set(LAMELLA_${PART} ${CMAKE_MATCH_1})
endforeach()
set(PACKAGE_VERSION ${LAMELLA_MAJOR}.${LAMELLA_MINOR})
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(NOT PACKAGE_FIND_VERSION OR (PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION AND
                                "${LAMELLA_MAJOR}" STREQUAL "${PACKAGE_FIND_VERSION_MAJOR}"))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
