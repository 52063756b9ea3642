!> Strake from Fortran 2008: a solver for grid problems on processors and OpenCL devices at once. strake.h documents
!> the functions behind it: shapes, units, ownership, errors.
!>
!>     use strake
!>     type(strake_solver) :: s
!>     call s%open(file='case.yaml', on='auto')      ! or text='problem: ...'; fields may be missing in it
!>     call s%set('u1', u1)
!>     call s%step(10)
!>     call s%get('psi', psi)
!>     call s%close()
!>
!> Arrays lie in memory as Strake has them, which counts the slowest dimension first and Fortran last: a field of the
!> shape [rows, cols] is an array (cols, rows) here, its column index first. They are of type real(real64) or, where the
!> case says `precision: single`, real(real32).
!>
!> Every call that can fail takes status= and message=, as allocate() has stat= and errmsg=: without status it prints the
!> message and ends the program, with it status is STRAKE_OK or one of the codes below. A message has less than 1536
!> characters; it is cut or padded with blanks, and stays as it was where nothing failed.
module strake
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  implicit none
  private

  public :: strake_solver, strake_version, strake_devices, strake_progress

  !> The codes of strake_status.
  integer, parameter, public :: STRAKE_OK = 0, STRAKE_ERR_USAGE = 1, STRAKE_ERR_IO = 2, STRAKE_ERR_MEMORY = 3, &
                                STRAKE_ERR_DEVICE = 4, STRAKE_ERR_NUMERIC = 5, STRAKE_ERR_STATE = 6, &
                                STRAKE_ERR_RANK = 7, STRAKE_STOPPED = 8, STRAKE_WENT_BACK = 9
  !> What kind() gives: steps advance it, steps read it, a number of the case that cannot be set.
  integer, parameter, public :: STRAKE_KIND_STATE = 0, STRAKE_KIND_INPUT = 1, STRAKE_KIND_CONSTANT = 2

  !> strake_error
  type, bind(C) :: c_error
    integer(c_int) :: status = 0
    character(kind=c_char) :: text(1536) = c_null_char
  end type

  !> strake_place
  type, bind(C) :: c_place
    type(c_ptr) :: data = c_null_ptr
    integer(c_int) :: dims = 0
    integer(c_int64_t) :: shape(3) = 0, stride(3) = 0
  end type

  !> strake_options
  type, bind(C) :: c_options
    type(c_ptr) :: where = c_null_ptr, split = c_null_ptr
    integer(c_int) :: threads = 0
    type(c_ptr) :: cache = c_null_ptr
    type(c_funptr) :: notice = c_null_funptr
    type(c_ptr) :: user = c_null_ptr
    type(c_funptr) :: compiling = c_null_funptr, progress = c_null_funptr
  end type

  abstract interface
    !> Told of a step that runs, about five times a second: steps done and those to be reached. @return whether to go on
    function strake_progress(user, step, end) bind(C) result(goes_on)
      import :: c_ptr, c_int64_t, c_bool
      type(c_ptr), value :: user
      integer(c_int64_t), value :: step, end
      logical(c_bool) :: goes_on
    end function
  end interface

  !> A case and the solver that was opened with it. Closed by close(), or when it goes out of scope; not to be copied.
  type :: strake_solver
    private
    type(c_ptr) :: which = c_null_ptr, solver = c_null_ptr
  contains
    procedure :: open => solver_open
    procedure :: close => solver_close
    procedure, private :: set_double, set_single, get_double, get_single
    generic :: set => set_double, set_single
    generic :: get => get_double, get_single
    procedure, private :: lend_1d, lend_2d, lend_3d, lend_1s, lend_2s, lend_3s
    generic :: lend => lend_1d, lend_2d, lend_3d, lend_1s, lend_2s, lend_3s
    procedure :: give_back => solver_give_back
    procedure, private :: step_default, step_long
    generic :: step => step_default, step_long
    procedure :: stop => solver_stop
    procedure :: step_count => solver_step_count
    procedure :: time => solver_time
    procedure :: fields => solver_fields
    procedure :: name => solver_name
    procedure :: kind => solver_kind
    procedure :: shape => solver_shape
    procedure :: statistics => solver_statistics
    procedure :: measures => solver_measures
    procedure :: measure_name => solver_measure_name
    procedure :: measure => solver_measure
    procedure :: save => solver_save
    procedure :: load => solver_load
    procedure :: report => solver_report
    final :: solver_end
  end type

  interface
    function c_version() bind(C, name='strake_version') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_case_open(path, sets, which, error) bind(C, name='strake_case_open_partial') result(status)
      import :: c_char, c_ptr, c_int, c_error
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: sets
      type(c_ptr), intent(out) :: which
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_case_parse(name, yaml, sets, fields_later, which, error) bind(C, name='strake_case_parse') result(status)
      import :: c_char, c_ptr, c_int, c_bool, c_error
      character(kind=c_char), intent(in) :: name(*), yaml(*)
      type(c_ptr), value :: sets
      logical(c_bool), value :: fields_later
      type(c_ptr), intent(out) :: which
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_case_close(which) bind(C, name='strake_case_close')
      import :: c_ptr
      type(c_ptr), intent(inout) :: which
    end subroutine
    function c_open(which, options, solver, error) bind(C, name='strake_open') result(status)
      import :: c_ptr, c_int, c_options, c_error
      type(c_ptr), value :: which
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: solver
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_close(solver) bind(C, name='strake_close')
      import :: c_ptr
      type(c_ptr), intent(inout) :: solver
    end subroutine
    function c_set_field(solver, name, data, error) bind(C, name='strake_set_field') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver, data
      character(kind=c_char), intent(in) :: name(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_lend_field(solver, name, place, error) bind(C, name='strake_lend_field') result(status)
      import :: c_char, c_ptr, c_int, c_error, c_place
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: name(*)
      type(c_place), intent(inout) :: place
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_return_field(solver, name, error) bind(C, name='strake_return_field') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: name(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_get_field(solver, name, data, error) bind(C, name='strake_get_field') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver, data
      character(kind=c_char), intent(in) :: name(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_step(solver, steps, error) bind(C, name='strake_step') result(status)
      import :: c_ptr, c_int, c_int64_t, c_error
      type(c_ptr), value :: solver
      integer(c_int64_t), value :: steps
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_stop(solver, stop) bind(C, name='strake_stop')
      import :: c_ptr, c_bool
      type(c_ptr), value :: solver
      logical(c_bool), value :: stop
    end subroutine
    function c_step_count(solver) bind(C, name='strake_step_count') result(count)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: solver
      integer(c_int64_t) :: count
    end function
    function c_time(solver) bind(C, name='strake_time') result(time)
      import :: c_ptr, c_double
      type(c_ptr), value :: solver
      real(c_double) :: time
    end function
    function c_element_size(solver) bind(C, name='strake_element_size') result(bytes)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: solver
      integer(c_size_t) :: bytes
    end function
    function c_field_count(solver) bind(C, name='strake_field_count') result(count)
      import :: c_ptr, c_int
      type(c_ptr), value :: solver
      integer(c_int) :: count
    end function
    function c_field_name(solver, field) bind(C, name='strake_field_name') result(name)
      import :: c_ptr, c_int
      type(c_ptr), value :: solver
      integer(c_int), value :: field
      type(c_ptr) :: name
    end function
    function c_field_kind(solver, name, kind, error) bind(C, name='strake_field_kind') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: kind
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_field_shape(solver, name, dims, shape, error) bind(C, name='strake_field_shape') result(status)
      import :: c_char, c_ptr, c_int, c_int64_t, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: dims
      integer(c_int64_t), intent(out) :: shape(3)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_measure_count(solver) bind(C, name='strake_quantity_count') result(count)
      import :: c_ptr, c_int
      type(c_ptr), value :: solver
      integer(c_int) :: count
    end function
    function c_measure_name(solver, number) bind(C, name='strake_quantity_name') result(name)
      import :: c_ptr, c_int
      type(c_ptr), value :: solver
      integer(c_int), value :: number
      type(c_ptr) :: name
    end function
    function c_measure(solver, value, error) bind(C, name='strake_get_quantities') result(status)
      import :: c_ptr, c_int, c_double, c_error
      type(c_ptr), value :: solver
      real(c_double), intent(out) :: value(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_field_statistics(solver, name, minimum, maximum, sum, error) &
        bind(C, name='strake_field_statistics') result(status)
      import :: c_char, c_ptr, c_int, c_double, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: minimum, maximum, sum
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_checkpoint_save(solver, path, error) bind(C, name='strake_checkpoint_save') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: path(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_checkpoint_load(solver, path, error) bind(C, name='strake_checkpoint_load') result(status)
      import :: c_char, c_ptr, c_int, c_error
      type(c_ptr), value :: solver
      character(kind=c_char), intent(in) :: path(*)
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_report(solver, text, error) bind(C, name='strake_report') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: solver
      type(c_ptr), intent(out) :: text
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    function c_devices(cache, text, error) bind(C, name='strake_devices') result(status)
      import :: c_ptr, c_int, c_error
      type(c_ptr), value :: cache
      type(c_ptr), intent(out) :: text
      type(c_error), intent(inout) :: error
      integer(c_int) :: status
    end function
    subroutine c_text_close(text) bind(C, name='strake_text_close')
      import :: c_ptr
      type(c_ptr), intent(inout) :: text
    end subroutine
    function c_length(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  !> Version of the library that is loaded.
  function strake_version() result(version)
    character(len=:), allocatable :: version
    version = text_of(c_version())
  end function

  !> The processor and every OpenCL device, as JSON.
  function strake_devices(status, message) result(json)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    character(len=:), allocatable :: json
    type(c_error) :: error
    type(c_ptr) :: text
    text = c_null_ptr
    call finish(c_devices(c_null_ptr, text, error), error, status, message)
    json = taken(text)
  end function

  !> Opens a solver.
  !> @param file, text  the case: a file's name, or what such a file says; one of the two
  !> @param on        where to run: 'auto', 'cpu', 'ocl:0', 'cpu,gpu:0'; the case's, then 'auto'
  !> @param split     weights, one per entry of `on`, separated by commas; measured
  !> @param threads   of the CPU stripe; OMP_NUM_THREADS, then the usable cores
  !> @param progress  is told of steps that take long, with `user`
  subroutine solver_open(self, file, text, on, split, threads, progress, user, status, message)
    class(strake_solver), intent(inout) :: self
    character(len=*), intent(in), optional :: file, text, on, split
    integer, intent(in), optional :: threads
    procedure(strake_progress), optional :: progress
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    character(kind=c_char, len=:), allocatable, target :: own_on, own_split
    type(c_options) :: options
    type(c_error) :: error
    integer(c_int) :: code
    call self%close()
    if (present(on)) then
      own_on = on // c_null_char
      options%where = c_loc(own_on)
    end if
    if (present(split)) then
      own_split = split // c_null_char
      options%split = c_loc(own_split)
    end if
    if (present(threads)) options%threads = int(threads, c_int)
    if (present(progress)) options%progress = c_funloc(progress)
    if (present(user)) options%user = user
    if (present(file) .eqv. present(text)) then
      code = refuse(error, STRAKE_ERR_USAGE, 'strake_solver%open: expected file= or text=, one of the two')
    else if (present(file)) then
      code = c_case_open(file // c_null_char, c_null_ptr, self%which, error)
    else
      code = c_case_parse('case' // c_null_char, text // c_null_char, c_null_ptr, .true._c_bool, self%which, error)
    end if
    if (code == STRAKE_OK) code = c_open(self%which, options, self%solver, error)
    if (code /= STRAKE_OK) call self%close()
    call finish(code, error, status, message)
  end subroutine

  !> Frees everything; a solver that is not open is accepted.
  subroutine solver_close(self)
    class(strake_solver), intent(inout) :: self
    if (c_associated(self%solver)) call c_close(self%solver)
    if (c_associated(self%which)) call c_case_close(self%which)
    self%solver = c_null_ptr
    self%which = c_null_ptr
  end subroutine

  subroutine solver_end(self)
    type(strake_solver), intent(inout) :: self
    call self%close()
  end subroutine

  !> Sets a field; the array is only read during the call.
  subroutine set_double(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), intent(in), contiguous, target :: values(..)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    call set_any(self, name, c_loc(values), size(values, kind=int64), 8, status, message)
  end subroutine

  subroutine set_single(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real32), intent(in), contiguous, target :: values(..)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    call set_any(self, name, c_loc(values), size(values, kind=int64), 4, status, message)
  end subroutine

  subroutine set_any(self, name, data, count, bytes, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: data
    integer(int64), intent(in) :: count
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_array(self, name, count, bytes, error)
    if (code == STRAKE_OK) code = c_set_field(self%solver, name // c_null_char, data, error)
    call finish(code, error, status, message)
  end subroutine

  !> The solver's own array of an input of a 1D case in double precision, to be written in place instead of being copied
  !> with set(): the same until the solver is closed. Once written, give_back() comes before the next step.
  subroutine lend_1d(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real64), pointer :: all(:)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 1, 8, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%shape(1)])
    values => all(1:place%shape(1))
  end subroutine

  !> The same of a 2D case.
  subroutine lend_2d(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real64), pointer :: all(:, :)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 2, 8, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%stride(1), place%shape(1)])
    values => all(1:place%shape(2), 1:place%shape(1))
  end subroutine

  !> The same of a 3D case.
  subroutine lend_3d(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real64), pointer :: all(:, :, :)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 3, 8, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%stride(2), place%stride(1) / place%stride(2), place%shape(1)])
    values => all(1:place%shape(3), 1:place%shape(2), 1:place%shape(1))
  end subroutine

  !> The same in single precision.
  subroutine lend_1s(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real32), pointer, intent(out) :: values(:)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real32), pointer :: all(:)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 1, 4, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%shape(1)])
    values => all(1:place%shape(1))
  end subroutine

  subroutine lend_2s(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real32), pointer, intent(out) :: values(:, :)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real32), pointer :: all(:, :)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 2, 4, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%stride(1), place%shape(1)])
    values => all(1:place%shape(2), 1:place%shape(1))
  end subroutine

  subroutine lend_3s(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real32), pointer, intent(out) :: values(:, :, :)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    real(real32), pointer :: all(:, :, :)
    type(c_place) :: place
    integer(c_int) :: code
    values => null()
    call lend_any(self, name, 3, 4, place, code, status, message)
    if (code /= STRAKE_OK) return
    call c_f_pointer(place%data, all, [place%stride(2), place%stride(1) / place%stride(2), place%shape(1)])
    values => all(1:place%shape(3), 1:place%shape(2), 1:place%shape(1))
  end subroutine

  subroutine lend_any(self, name, dims, bytes, place, code, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(in) :: dims, bytes
    type(c_place), intent(inout) :: place
    integer(c_int), intent(out) :: code
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: has
    integer(c_int64_t) :: shape(3)
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_field_shape(self%solver, name // c_null_char, has, shape, error)
    if (code == STRAKE_OK) then
      if (has /= dims .or. c_element_size(self%solver) /= bytes) code = refuse(error, STRAKE_ERR_USAGE, &
        'field ' // name // ': lent to pointers to reals of its precision that have as many dimensions as it has')
    end if
    if (code == STRAKE_OK) code = c_lend_field(self%solver, name // c_null_char, place, error)
    call finish(code, error, status, message)
  end subroutine

  !> Says that a field that lend() gave has been written; it comes before the next step.
  subroutine solver_give_back(self, name, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_return_field(self%solver, name // c_null_char, error)
    call finish(code, error, status, message)
  end subroutine

  !> Copies a field out. STRAKE_WENT_BACK: its values were lost with a device, and the solver stands at an earlier step,
  !> step_count(), again; step to where it was, which does without the device, and read again.
  subroutine get_double(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), intent(inout), contiguous, target :: values(..)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    call get_any(self, name, c_loc(values), size(values, kind=int64), 8, status, message)
  end subroutine

  subroutine get_single(self, name, values, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real32), intent(inout), contiguous, target :: values(..)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    call get_any(self, name, c_loc(values), size(values, kind=int64), 4, status, message)
  end subroutine

  subroutine get_any(self, name, data, count, bytes, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: data
    integer(int64), intent(in) :: count
    integer, intent(in) :: bytes
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_array(self, name, count, bytes, error)
    if (code == STRAKE_OK) code = c_get_field(self%solver, name // c_null_char, data, error)
    call finish(code, error, status, message)
  end subroutine

  !> Advances so many steps.
  subroutine step_default(self, steps, status, message)
    class(strake_solver), intent(in) :: self
    integer, intent(in) :: steps
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    call self%step_long(int(steps, int64), status, message)
  end subroutine

  subroutine step_long(self, steps, status, message)
    class(strake_solver), intent(in) :: self
    integer(int64), intent(in) :: steps
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_step(self%solver, steps, error)
    call finish(code, error, status, message)
  end subroutine

  !> Asks the step that runs, or the next one, to end after the sweeps that have begun (STRAKE_STOPPED).
  subroutine solver_stop(self, stop)
    class(strake_solver), intent(in) :: self
    logical, intent(in), optional :: stop
    logical(c_bool) :: wanted
    wanted = .true.
    if (present(stop)) wanted = stop
    if (c_associated(self%solver)) call c_stop(self%solver, wanted)
  end subroutine

  !> Steps done since the initial fields; -1 for a solver that is not open.
  function solver_step_count(self) result(count)
    class(strake_solver), intent(in) :: self
    integer(int64) :: count
    count = -1
    if (c_associated(self%solver)) count = c_step_count(self%solver)
  end function

  !> Simulated time [s].
  function solver_time(self) result(time)
    class(strake_solver), intent(in) :: self
    real(real64) :: time
    time = 0
    if (c_associated(self%solver)) time = c_time(self%solver)
  end function

  !> Number of fields.
  function solver_fields(self) result(count)
    class(strake_solver), intent(in) :: self
    integer :: count
    count = 0
    if (c_associated(self%solver)) count = c_field_count(self%solver)
  end function

  !> Name of a field, from 1 on; empty where there is none.
  function solver_name(self, field) result(name)
    class(strake_solver), intent(in) :: self
    integer, intent(in) :: field
    character(len=:), allocatable :: name
    name = ''
    if (field >= 1 .and. field <= self%fields()) name = text_of(c_field_name(self%solver, int(field - 1, c_int)))
  end function

  !> STRAKE_KIND_STATE, STRAKE_KIND_INPUT or STRAKE_KIND_CONSTANT.
  function solver_kind(self, name, status, message) result(kind)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    integer :: kind
    type(c_error) :: error
    integer(c_int) :: code, found
    found = -1
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_field_kind(self%solver, name // c_null_char, found, error)
    kind = found
    call finish(code, error, status, message)
  end function

  !> Shape that an array of a field has here, the fastest dimension first.
  function solver_shape(self, name, status, message) result(shape)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    integer(int64), allocatable :: shape(:)
    type(c_error) :: error
    integer(c_int) :: code, dims
    integer(c_int64_t) :: slowest_first(3)
    dims = 0
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_field_shape(self%solver, name // c_null_char, dims, slowest_first, error)
    shape = slowest_first(dims:1:-1)
    call finish(code, error, status, message)
  end function

  !> Minimum, maximum and sum of a field.
  subroutine solver_statistics(self, name, minimum, maximum, sum, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    real(real64), intent(out) :: minimum, maximum, sum
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_open(self, error)
    if (code == STRAKE_OK) then
      code = c_field_statistics(self%solver, name // c_null_char, minimum, maximum, sum, error)
    end if
    call finish(code, error, status, message)
  end subroutine

  !> How many numbers the problem measures of its states.
  function solver_measures(self) result(count)
    class(strake_solver), intent(in) :: self
    integer :: count
    count = 0
    if (c_associated(self%solver)) count = c_measure_count(self%solver)
  end function

  !> Name of such a number, from 1 on; empty where there is none.
  function solver_measure_name(self, number) result(name)
    class(strake_solver), intent(in) :: self
    integer, intent(in) :: number
    character(len=:), allocatable :: name
    name = ''
    if (number >= 1 .and. number <= self%measures()) then
      name = text_of(c_measure_name(self%solver, int(number - 1, c_int)))
    end if
  end function

  !> Measures the states: as many numbers as measures().
  subroutine solver_measure(self, values, status, message)
    class(strake_solver), intent(in) :: self
    real(real64), allocatable, intent(out) :: values(:)
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    allocate(values(self%measures()))
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_measure(self%solver, values, error)
    call finish(code, error, status, message)
  end subroutine

  !> Writes a checkpoint, which `strake run --resume` takes, too.
  subroutine solver_save(self, path, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_checkpoint_save(self%solver, path // c_null_char, error)
    call finish(code, error, status, message)
  end subroutine

  !> Takes states and step from a checkpoint; the inputs must be those with which it was saved.
  subroutine solver_load(self, path, status, message)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    type(c_error) :: error
    integer(c_int) :: code
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_checkpoint_load(self%solver, path // c_null_char, error)
    call finish(code, error, status, message)
  end subroutine

  !> What was done, where and how fast, as JSON.
  function solver_report(self, status, message) result(json)
    class(strake_solver), intent(in) :: self
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    character(len=:), allocatable :: json
    type(c_error) :: error
    type(c_ptr) :: text
    integer(c_int) :: code
    text = c_null_ptr
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_report(self%solver, text, error)
    call finish(code, error, status, message)
    json = taken(text)
  end function

  ! --- texts and errors -------------------------------------------------------------------------------------------

  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: byte(:)
    integer :: k
    if (.not. c_associated(address)) then
      text = ''
      return
    end if
    call c_f_pointer(address, byte, [c_length(address)])
    allocate (character(len=size(byte)) :: text)
    do k = 1, size(byte)
      text(k:k) = byte(k)
    end do
  end function

  !> A text that the library made, which is freed.
  function taken(address) result(text)
    type(c_ptr), intent(inout) :: address
    character(len=:), allocatable :: text
    text = text_of(address)
    call c_text_close(address)
  end function

  !> Leaves an error of this module's own.
  function refuse(error, status, text) result(code)
    type(c_error), intent(inout) :: error
    integer, intent(in) :: status
    character(len=*), intent(in) :: text
    integer(c_int) :: code
    integer :: k
    code = int(status, c_int)
    error%status = code
    do k = 1, len(text)
      error%text(k) = text(k:k)
    end do
    error%text(len(text) + 1) = c_null_char
  end function

  function check_open(self, error) result(code)
    class(strake_solver), intent(in) :: self
    type(c_error), intent(inout) :: error
    integer(c_int) :: code
    code = STRAKE_OK
    if (.not. c_associated(self%solver)) code = refuse(error, STRAKE_ERR_STATE, 'this solver is not open')
  end function

  !> Whether an array of so many elements of so many bytes is one of a field.
  function check_array(self, name, count, bytes, error) result(code)
    class(strake_solver), intent(in) :: self
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: count
    integer, intent(in) :: bytes
    type(c_error), intent(inout) :: error
    integer(c_int) :: code, dims
    integer(c_int64_t) :: shape(3)
    character(len=160) :: text
    code = check_open(self, error)
    if (code == STRAKE_OK) code = c_field_shape(self%solver, name // c_null_char, dims, shape, error)
    if (code /= STRAKE_OK) return
    if (c_element_size(self%solver) /= bytes) then
      write (text, '(4a, i0, a)') 'field ', name, ': the case computes in reals of another kind; ', &
        'expected an array of ', c_element_size(self%solver), ' bytes an element'
      code = refuse(error, STRAKE_ERR_USAGE, trim(text))
    else if (product(shape(1:dims)) /= count) then
      write (text, '(3a, i0, a, i0, 2(a, i0))') 'field ', name, ' has ', product(shape(1:dims)), &
        ' elements, the array ', count
      code = refuse(error, STRAKE_ERR_USAGE, trim(text))
    end if
  end function

  !> Gives status and message to the caller; ends the program where nobody asks for the status.
  subroutine finish(code, error, status, message)
    integer(c_int), intent(in) :: code
    type(c_error), intent(in), target :: error
    integer, intent(out), optional :: status
    character(len=*), intent(inout), optional :: message
    character(len=:), allocatable :: text
    text = ''
    if (code /= STRAKE_OK) text = text_of(c_loc(error%text))
    if (present(message) .and. code /= STRAKE_OK) message = text
    if (present(status)) then
      status = code
    else if (code /= STRAKE_OK) then
      write (error_unit, '(2a)') 'strake: ', text
      error stop 1
    end if
  end subroutine
end module
