# What `cmake --install` puts where, in the parts that become packages: the programs, the library,
# and what is needed to build with it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The manual page of a program, and how shells complete it.
function(install_described program component)
  install(FILES ${described}/${program}.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
          COMPONENT ${component})
  install(FILES ${described}/${program}.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME ${program} COMPONENT ${component})
  install(FILES ${described}/_${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
  install(FILES ${described}/${program}.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
endfunction()

install(TARGETS tacos RUNTIME COMPONENT program)
install_described(tacos program)
if(TARGET tacos-mpi)
  install(TARGETS tacos-mpi RUNTIME COMPONENT mpi)
  install_described(tacos-mpi mpi)
  # With what is needed to build with it, as those who have MPI programs have MPI.
  install(TARGETS libtacos_mpi libtacos_pmpi LIBRARY COMPONENT mpi)
  install(FILES ${PROJECT_SOURCE_DIR}/include/tacos/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tacos
          COMPONENT mpi)
endif()
install(
  TARGETS libtacos
  EXPORT tacosTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  FILE_SET HEADERS COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tacos)
install(
  EXPORT tacosTargets
  NAMESPACE tacos::
  FILE tacosConfig.cmake
  DESTINATION ${package_dir}
  COMPONENT development)
write_basic_package_version_file(tacosConfigVersion.cmake COMPATIBILITY ExactVersion)
# A prefix may be chosen, or changed, when installing.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tacos.pc.in tacos.pc @ONLY)
if(TARGET libtacos_mpi)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tacos-mpi.pc.in tacos-mpi.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tacos-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT mpi)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tacosConfigVersion.cmake DESTINATION ${package_dir}
        COMPONENT development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tacos.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
