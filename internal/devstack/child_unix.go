//go:build unix && !linux

package devstack

import "syscall"

// attributes put a child into its own process group. These systems have no way to let it die with
// us; the lock it inherits keeps a second stack off its database, and names it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
