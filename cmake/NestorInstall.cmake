# What `cmake --install` puts where.
install(TARGETS nestor_shared nestor_static
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
