!> A model with its own time loop that changes the winds before every step and has Strake advect a tracer: a flow that
!> deforms the tracer for half of the time and then turns round, so that it comes back to where it was.
!> Usage: model [WHERE]; reads case.yaml, writes checkpoint.strake. Build: run.sh
program model
  use, intrinsic :: iso_fortran_env, only: real64
  use strake
  implicit none
  integer, parameter :: n = 128, steps = 800
  ! The column comes first here; Strake's shapes are [rows, cols].
  real(real64) :: base1(n, n + 1), base2(n + 1, n) ! the winds at their strongest, as Courant numbers
  real(real64) :: strength
  type(strake_solver) :: s
  character(len=80) :: where
  integer :: step

  where = 'cpu'
  if (command_argument_count() > 0) call get_command_argument(1, where)
  call make_base()
  call s%open(file='case.yaml', on=trim(where))
  call tell()
  do step = 0, steps - 1
    strength = 1.0_real64 - (2.0_real64 * step + 1.0_real64) / steps
    call s%set('u1', strength * base1)
    call s%set('u2', strength * base2)
    call s%step(1)
    if (mod(step + 1, steps / 2) == 0) call tell()
  end do
  call s%save('checkpoint.strake')
  call s%close()

contains

  !> Stream function at the corner before row i and column j, from 0 on: no wind through the edges.
  pure function stream(i, j)
    integer, intent(in) :: i, j
    real(real64) :: stream, x, y, a, b
    x = real(i, real64) / n
    y = real(j, real64) / n
    a = x * (1.0_real64 - x)
    b = y * (1.0_real64 - y)
    stream = 4096.0_real64 * ((a * a) * (b * b))
  end function

  !> Differences along the faces: as much flows into every cell as out of it.
  subroutine make_base()
    integer :: i, j
    do i = 0, n
      do j = 0, n
        if (j < n) base1(j + 1, i + 1) = stream(i, j) - stream(i, j + 1)
        if (i < n) base2(j + 1, i + 1) = stream(i + 1, j) - stream(i, j)
      end do
    end do
  end subroutine

  subroutine tell()
    real(real64) :: minimum, maximum, sum
    call s%statistics('psi', minimum, maximum, sum)
    print '(a, i3, 2(a, f5.3), a, f0.9)', 'step ', s%step_count(), ': psi from ', minimum, ' to ', maximum, ', sum ', sum
  end subroutine
end program
