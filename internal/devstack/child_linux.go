package devstack

import "syscall"

// attributes put a child into its own process group and let the kernel kill it with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
