import type { Escape } from './escape.ts'

const syscall = (...args: (string | number)[]): string =>
  `"$PYTHON" -c "import ctypes, os; r = ctypes.CDLL(None, use_errno=True).syscall(${args.join(', ')}); print(os.environ['WON'] if r >= 0 else 'refused')"`
const connect = (address: string): string =>
  `"$PYTHON" -c "import socket, os; s = socket.socket(socket.AF_UNIX); s.connect(${address}); s.send(b'evil'); print(os.environ['WON'])"`

/** Such a call must not even reach the kernel's own check of rights. */
const mustBeFiltered = (command: string): string => command.replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)')

/** Through the kernel, other processes, sockets and the network. The numbers of calls are those of x86-64. */
export const MACHINE: readonly Escape[] = [
  {
    name: 'keys of the kernel: add',
    commands: [syscall(248, "b'user'", "b'evil'", "b'x'", 1, -4), syscall(248, "b'user'", "b'evil'", "b'x'", 1, -5)],
  },
  {
    name: 'keys of the kernel: look',
    commands: [syscall(250, 0, -3, 1), syscall(250, 0, -5, 1), 'keyctl show && echo $WON'],
  },
  { name: 'keys of the kernel: request', commands: [syscall(249, "b'user'", "b'canary'", 0, -4)] },
  {
    name: 'a user namespace',
    commands: [syscall(272, '0x10000000'), 'unshare -U true && echo $WON; unshare -Ur true && echo $WON'],
  },
  { name: 'a user namespace by clone', commands: [syscall(56, '0x10000011', 0, 0, 0, 0)] },
  {
    name: 'a user namespace by clone3',
    commands: [
      `"$PYTHON" -c "import ctypes, os, struct; a = ctypes.create_string_buffer(struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0)); r = ctypes.CDLL(None).syscall(435, a, 64); print(os.environ['WON'] if r > 0 else 'refused')"`,
    ],
  },
  { name: 'other namespaces', commands: ['for o in -m -n -p -i -u -C -T; do unshare $o true && echo $WON $o; done'] },
  {
    name: 'the namespaces of the first process',
    commands: [
      'for n in mnt net pid user; do nsenter --$n=/proc/1/ns/$n true 2>/dev/null && [ $n = x ] && echo $WON; done; nsenter -t $PID -m true && echo $WON',
    ],
  },
  {
    name: 'a mount',
    commands: [
      'mkdir -p m; mount -t tmpfs x m && echo $WON; mount --bind "$OUT" m && echo $WON; mount -o remount,rw / && echo $WON',
    ],
  },
  { name: 'a mount by the newer calls', commands: [syscall(430, "b'tmpfs'", 0), syscall(428, -100, "b'/'", 1)] },
  { name: 'a mount taken away', commands: ['umount -l /tmp; umount "$H"; umount -l .vscode; cat "$H/.ssh/id_rsa"'] },
  {
    name: 'another root',
    commands: [syscall(161, "b'/'"), 'chroot / true && echo $WON', syscall(155, "b'.'", "b'.'")],
  },
  {
    name: 'files by their handles',
    commands: [syscall(304, -100, 0, 0).replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)')],
  },
  {
    name: 'programs in the kernel',
    commands: [syscall(321, 0, 0, 0).replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)')],
  },
  {
    name: 'counters of the kernel',
    commands: [syscall(298, 0, 0, -1, -1, 0).replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)')],
  },
  { name: 'page faults in user space', commands: [syscall(323, 1)] },
  { name: 'io_uring', commands: [syscall(425, 1, 0).replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)')] },
  {
    name: 'modules and another kernel',
    commands: [
      syscall(313, -1, "b''", 0).replace('>= 0', '>= 0 or ctypes.get_errno() not in (1, 38)'),
      syscall(246, 0, 0, 0, 0),
    ],
  },
  {
    name: 'calls by their numbers of the x32 kind',
    commands: [syscall('0x40000000 + 272', '0x10000000'), syscall('0x40000000 + 39')],
  },
  {
    name: 'calls of 32-bit programs',
    commands: [
      '"$PYTHON" -c "import ctypes, mmap, os; c = bytes([0xb8,20,0,0,0,0xcd,0x80,0xc3]); m = mmap.mmap(-1, 4096, prot=7); m.write(c); f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m))); print(os.environ[\'WON\'] if f() > 0 else \'refused\')"',
    ],
  },
  {
    name: 'words typed into a terminal',
    commands: [
      '"$PYTHON" -c "import fcntl, os, pty; m, s = pty.openpty(); fcntl.ioctl(s, 0x5412, b\'x\'); print(os.environ[\'WON\'])"',
    ],
  },
  {
    name: 'the name and the clock of the machine',
    commands: ['hostname evil && echo $WON; date -s 2001-01-01 && echo $WON'],
  },
  {
    name: 'the log of the kernel',
    commands: ['dmesg | head -1 | grep -q . && echo $WON; head -c1 /dev/kmsg && echo $WON'],
  },
  {
    name: 'settings of the kernel',
    commands: [
      'for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger /proc/sys/kernel/modprobe; do (echo 1 > $f) 2>/dev/null && echo $WON $f; done',
    ],
  },
  {
    name: 'settings in /sys',
    commands: [
      'for f in /sys/kernel/uevent_helper /sys/power/state /sys/kernel/mm/transparent_hugepage/enabled; do (echo x > $f) 2>/dev/null && echo $WON; done; find /sys/fs/cgroup -name release_agent -writable 2>/dev/null | while read -r f; do (echo x > "$f") && echo $WON; done',
    ],
  },
  {
    name: 'control groups',
    commands: ['mkdir /sys/fs/cgroup/evil && echo $WON; (echo 0 > /sys/fs/cgroup/cgroup.procs) && echo $WON'],
  },
  {
    name: 'how badly we are wanted when memory is short',
    commands: ['(echo -1000 > /proc/self/oom_score_adj) 2>/dev/null && echo $WON'],
  },
  {
    name: 'a process outside, killed',
    commands: ['kill -9 $PID && echo $WON; kill -9 -1; true', 'kill -9 -$PID && echo $WON'],
  },
  {
    name: 'a process outside, looked at',
    commands: ['cat /proc/$PID/environ /proc/$PID/cmdline && echo $WON; grep -a canary /proc/[0-9]*/environ'],
  },
  { name: 'a process outside, traced', commands: [syscall(101, 16, '$PID', 0, 0), 'gdb -p $PID -batch && echo $WON'] },
  {
    name: 'the memory of a process outside',
    commands: ['head -c1 /proc/$PID/mem && echo $WON; echo x > /proc/$PID/mem && echo $WON'],
  },
  {
    name: 'the descriptors of a process outside',
    commands: ['ls /proc/$PID/fd && echo $WON', syscall(434, '$PID', 0)],
  },
  {
    name: 'the priority and limits of a process outside',
    commands: ['renice -n 19 -p $PID && echo $WON; prlimit -p $PID --nofile=1 && echo $WON'],
  },
  {
    name: 'shared memory and queues',
    commands: [
      'ipcs -m | grep -q 0x && echo $WON; ls /dev/mqueue /dev/shm | grep -q . && [ "$(ls /dev/shm)" ] && echo $WON',
    ],
  },
  { name: 'a socket file outside', commands: [connect("os.environ['SOCK']")] },
  { name: 'a socket file outside by a link', commands: ['ln -s "$SOCK" s', connect("'s'")] },
  {
    name: 'a socket file outside by another name',
    commands: [
      'ln "$SOCK" s; cd "$(dirname "$SOCK")"',
      `cd "$(dirname "$SOCK")" && ${connect("os.path.basename(os.environ['SOCK'])")}`,
    ],
  },
  {
    name: 'a socket file outside, uncovered',
    commands: ['rm -f "$SOCK"; mv "$SOCK" "$SOCK.x"; umount "$SOCK"', connect("os.environ['SOCK']")],
  },
  { name: 'a socket file outside with the network', network: true, commands: [connect("os.environ['SOCK']")] },
  { name: 'a socket file in the workspace', commands: [connect("os.environ['SOCK_INSIDE']")] },
  { name: 'a socket without a file', commands: [connect("b'\\\\0' + os.environ['SOCK_ABSTRACT'].encode()")] },
  {
    name: 'a socket without a file, with the network',
    network: true,
    commands: [connect("b'\\\\0' + os.environ['SOCK_ABSTRACT'].encode()")],
  },
  {
    name: 'the sockets of the machine',
    commands: [
      'for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/containerd/containerd.sock /run/user/*/bus; do [ -S $s ] && echo $WON $s; done',
    ],
  },
  {
    name: 'an agent of the person',
    commands: ['[ -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY$WAYLAND_DISPLAY" ] && echo $WON; true'],
  },
  { name: 'the loopback of the machine', commands: ['(exec 7<>/dev/tcp/127.0.0.1/$PORT; echo evil >&7; cat <&7)'] },
  {
    name: 'the loopback by another name',
    commands: [
      'for a in localhost 127.1 0 ::1 127.0.0.2; do (exec 7<>/dev/tcp/$a/$PORT; echo evil >&7; cat <&7); done',
    ],
  },
  {
    name: 'sockets of other families',
    commands: [syscall(41, 40, 1, 0), syscall(41, 17, 3, 0), syscall(41, 38, 5, 0), syscall(41, 15, 3, 2)],
  },
  {
    name: 'sockets of other families with the network',
    network: true,
    commands: [syscall(41, 40, 1, 0), syscall(41, 17, 3, 0), syscall(41, 38, 5, 0)],
  },
  {
    name: 'rules of the network',
    commands: ['ip link add evil type dummy && echo $WON; iptables -L && echo $WON; ip link set lo down && echo $WON'],
  },
  {
    name: 'a file without end',
    commands: [
      'truncate -s 100T huge && echo $WON; rm -f huge; "$PYTHON" -c "import resource, os; resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)); print(os.environ[\'WON\'])"',
    ],
  },
  {
    name: 'keys by a process that we were given',
    commands: ['tr "\\0" "\\n" < /proc/self/environ | grep canary; env | grep canary'],
  },
  {
    name: 'descriptors of a process outside, by a descriptor of it',
    commands: [syscall(438, "ctypes.CDLL(None).syscall(434, int(os.environ['PID']), 0)", 0, 0)],
  },
  {
    name: 'the memory of a process outside, read and written',
    commands: [
      '"$PYTHON" -c "import ctypes, os; b = ctypes.create_string_buffer(16); v = (ctypes.c_void_p * 2)(ctypes.addressof(b), 16); l = ctypes.CDLL(None); print([os.environ[\'WON\'] for c in (310, 311) if l.syscall(c, int(os.environ[\'PID\']), v, 1, v, 1, 0) >= 0])"',
    ],
  },
  {
    name: 'a mount by the newest calls',
    commands: [
      syscall(442, -100, "b'/'", 0, 0, 0),
      syscall(433, -100, "b'/'", 0),
      syscall(429, -100, "b'/'", -100, "b'/tmp'", 0),
      syscall(467, -100, "b'/'", 1, 0, 0),
    ].map(mustBeFiltered),
  },
  {
    name: 'namespaces of our own process',
    commands: [
      '"$PYTHON" -c "import ctypes, os; l = ctypes.CDLL(None); print([os.environ[\'WON\'] for p in (1, os.getppid()) if l.syscall(308, l.syscall(434, p, 0), 0x20000) >= 0])"',
    ],
  },
  {
    name: 'devices',
    commands: [
      'mknod d b 8 0 && echo $WON; mknod c c 1 1 && echo $WON; for f in /dev/mem /dev/kmem /dev/port /dev/sda /dev/vda /dev/nvme0n1 /dev/fuse /dev/kvm /dev/uinput /dev/net/tun; do [ -e $f ] && echo $WON $f; done',
    ],
  },
  {
    name: 'the memory of the kernel',
    commands: [
      'head -c1 /proc/kcore >/dev/null 2>&1 && [ -s /proc/kcore ] && dd if=/proc/kcore bs=1 count=1 2>/dev/null | grep -q . && echo $WON; ls /sys/kernel/debug/* /sys/kernel/tracing/* 2>/dev/null | grep -q . && [ -w /sys/kernel/tracing/trace ] && (echo x > /sys/kernel/tracing/trace_marker) 2>/dev/null && echo $WON',
    ],
  },
  {
    name: 'our own process and its helper',
    commands: [
      'grep -las "dragoman-watch[d]og" /proc/[0-9]*/cmdline && echo $WON; kill -9 1; kill -STOP 1; kill -9 0; true',
      'echo evil > .npmrc; kill -STOP $PPID; kill -9 $PPID',
    ],
  },
  {
    name: 'the record of what was approved',
    commands: [
      'find / -xdev -type d -name approved -path "*ours*" 2>/dev/null | grep -q . && echo $WON; ls "$SCRATCH/../locks" && echo $WON; for d in "$SCRATCH/../locks/approved" locks/approved; do mkdir -p "$d"; : > "$d/$(printf %s "$PWD/.npmrc" | sha256sum | cut -c1-32)-9999999999999"; done; echo evil > .npmrc',
    ],
  },
  {
    name: 'a socket file of the workspace that is moved',
    commands: ['mv outside.sock s; ln outside.sock t; mkdir d; mv outside.sock d/', connect("'s'"), connect("'t'")],
  },
  {
    name: 'a core that somebody else takes',
    commands: ['ulimit -c unlimited; sleep 9 & kill -SEGV $!; sleep 0.1; true'],
  },
]
