!> Checks of the module strake: a line "ok - WHAT" or "not ok - WHAT" for each.
module told
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0
contains
  function tell(user, step, end) bind(C) result(goes_on)
    type(c_ptr), value :: user
    integer(c_int64_t), value :: step, end
    logical(c_bool) :: goes_on
    calls = calls + 1
    goes_on = .not. (c_associated(user) .and. calls >= 3) .and. step < end
  end function
end module

program fortran_module
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use strake
  use told
  implicit none
  character(len=*), parameter :: lf = new_line('a')
  character(len=*), parameter :: text = 'problem: mpdata2d' // lf // 'grid: {rows: 5, cols: 7}' // lf // &
    'time: {dt: 0.5, steps: 9}' // lf // 'boundary: {rows: open, cols: periodic}' // lf // 'fields: {h: {constant: 1}}'
  type(strake_solver) :: s, other
  real(real64) :: psi(7, 5), u1(7, 6), u2(7, 5), again(7, 5), minimum, maximum, total
  real(real64), allocatable :: measured(:)
  real(real64), pointer :: lent(:, :)
  real(real32), pointer :: line(:)
  real(real32) :: flow(8)
  real(real32) :: small(7, 5)
  character(len=400) :: message
  integer :: status, i, j
  integer, target :: mark = 1
  logical :: good

  good = .true.
  call s%open(text=text, on='cpu', threads=1)
  call check(strake_version() /= '' .and. s%fields() == 10 .and. s%name(1) == 'psi' .and. s%name(11) == '', 'fields')
  call check(all(s%shape('u1') == [7, 6]) .and. s%kind('u1') == STRAKE_KIND_INPUT .and. &
             s%kind('psi') == STRAKE_KIND_STATE .and. s%kind('h') == STRAKE_KIND_CONSTANT, 'shapes and kinds')

  do j = 1, 5
    do i = 1, 7
      psi(i, j) = 10 * j + i
    end do
  end do
  u1 = 0.1_real64
  u2 = 0.2_real64
  call s%step(1, status=status, message=message)
  call check(status == STRAKE_ERR_STATE .and. index(message, 'psi') > 0, 'a step without fields is refused')
  call s%set('psi', psi)
  call s%set('u1', u1)
  call s%set('u2', u2)
  call s%get('psi', again)
  call check(all(again == psi), 'a field comes back as it was set')
  call s%statistics('psi', minimum, maximum, total)
  call check(minimum == 11 .and. maximum == 57 .and. total == sum(psi), 'statistics')
  call s%measure(measured)
  call check(s%measures() == 6 .and. s%measure_name(1) == 'mass_psi' .and. s%measure_name(7) == '', 'names')
  call check(measured(2) == 11 .and. measured(3) == 57, 'measure')
  call s%step(3)
  call s%step(2_int64)
  call check(s%step_count() == 5 .and. s%time() == 2.5_real64, 'steps and time')
  call s%get('psi', psi)
  call check(any(again /= psi) .and. maxval(psi) < 57, 'steps change a field')

  call s%lend('u1', lent)
  lent = u1
  call s%give_back('u1')
  call s%get('u1', u1)
  call check(all(shape(lent) == shape(u1)) .and. all(lent == u1), 'a field is lent')

  call s%lend('u1', line, status=status, message=message)
  call check(status == STRAKE_ERR_USAGE .and. index(message, 'dimensions') > 0, 'but not to a pointer of another rank')
  call other%open(text='problem: mpdata1d' // lf // 'precision: single' // lf // 'grid: {cols: 7}' // lf // &
                  'time: {dt: 0.5, steps: 9}' // lf // 'boundary: {cols: open}', on='cpu', threads=1)
  call other%set('psi', [(real(i, real32), i = 1, 7)])
  call other%lend('u1', line)
  line = 0.25_real32
  call other%give_back('u1')
  call other%step(1)
  call other%get('u1', flow)
  call check(all(shape(line) == [8]) .and. all(flow == 0.25_real32), 'a field of one dimension in single precision is lent')
  call other%close()

  call s%save('fortran.strake')
  call other%open(text=text, on='serial')
  call other%set('u1', u1)
  call other%set('u2', u2)
  call other%load('fortran.strake')
  call other%get('psi', again)
  call check(other%step_count() == 5 .and. all(again == psi), 'a checkpoint is taken by another solver')
  call other%close()
  call check(other%step_count() == -1_int64, 'which is closed')

  call s%set('psi', small, status=status, message=message)
  call check(status == STRAKE_ERR_USAGE .and. index(message, 'kind') > 0, 'reals of another kind are refused')
  call s%get('u1', psi, status=status, message=message)
  call check(status == STRAKE_ERR_USAGE .and. index(message, '42') > 0 .and. index(message, '35') > 0, &
             'arrays of another size are refused')
  message = ''
  call other%step(1, status=status, message=message)
  call check(status == STRAKE_ERR_STATE .and. message == 'this solver is not open', 'a solver that is not open is refused')
  call other%open(status=status, message=message)
  call check(status == STRAKE_ERR_USAGE .and. index(message, 'file=') > 0, 'a solver without a case is refused')
  call check(index(s%report(), '"steps": 5') > 0 .and. index(strake_devices(), '"id": "cpu"') > 0, 'report and devices')

  call s%stop()
  call s%step(4, status=status, message=message)
  call check(status == STRAKE_STOPPED .and. s%step_count() == 5, 'a request stops a step')
  call s%open(text=text, on='cpu', threads=1, progress=tell, user=c_loc(mark))
  psi = 1
  call s%set('psi', psi)
  call s%set('u1', u1)
  call s%set('u2', u2)
  call s%step(1000000000000_int64, status=status)
  call check(status == STRAKE_STOPPED .and. calls == 3, 'progress is told and ends a step')
  if (.not. good) error stop 1

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (.not. condition) good = .false.
    if (condition) print '(2a)', 'ok - ', what
    if (.not. condition) print '(2a)', 'not ok - ', what
  end subroutine
end program
