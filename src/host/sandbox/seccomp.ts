/**
 * System calls that a command in the sandbox cannot make, as a BPF program that bubblewrap loads. It is a second barrier:
 * the calls need rights that a command does not have, but bugs in these parts of the kernel have granted such rights
 * before, and the kernel's keyring belongs to no namespace. Debuggers still work: `ptrace` reaches only processes of the
 * same sandbox.
 */

/**
 * Undefined for an architecture whose system call numbers are not known here. `localSockets` permits Unix sockets, which
 * reach servers of the machine where its network is shared.
 */
export function createSeccompFilter(
  arch: string,
  { localSockets }: { readonly localSockets: boolean },
): Buffer | undefined {
  const architecture = ARCHITECTURES[arch]
  if (!architecture) return undefined
  const families = localSockets ? [AF_UNIX, ...ALLOWED_SOCKET_FAMILIES] : ALLOWED_SOCKET_FAMILIES
  return Buffer.concat([
    loadWord(ARCH_OFFSET),
    jumpIfEqual(architecture.auditArch, 1, 0),
    returnErrno(ENOSYS),
    loadWord(SYSCALL_NUMBER_OFFSET),
    // x32 numbers lead to the same calls, and would bypass the rest.
    ...(architecture.hasX32 ? [jumpIfAnyBit(X32_SYSCALL_BIT, 0, 1), returnErrno(ENOSYS)] : []),
    ...DENIED_SYSCALLS.flatMap(({ number, error = EPERM }) => {
      const syscallNumber = number[architecture.column]
      return syscallNumber === undefined ? [] : [jumpIfEqual(syscallNumber, 0, 1), returnErrno(error)]
    }),
    ...forSyscall(CLONE_SYSCALL[architecture.column], [
      loadWord(argumentOffset(0)),
      jumpIfAnyBit(CLONE_NAMESPACE_FLAGS, 0, 1),
      returnErrno(EPERM),
    ]),
    ...forSyscall(UNSHARE_SYSCALL[architecture.column], [
      loadWord(argumentOffset(0)),
      jumpIfAnyBit(CLONE_NAMESPACE_FLAGS | CLONE_NEWTIME, 0, 1),
      returnErrno(EPERM),
    ]),
    ...forSyscall(IOCTL_SYSCALL[architecture.column], [
      loadWord(argumentOffset(1)),
      ...TERMINAL_INPUT_REQUESTS.flatMap((request) => [jumpIfEqual(request, 0, 1), returnErrno(EPERM)]),
    ]),
    ...forSyscall(SOCKET_SYSCALL[architecture.column], [
      loadWord(argumentOffset(0)),
      ...families.flatMap((family) => [jumpIfEqual(family, 0, 1), ALLOW_INSTRUCTION]),
      returnErrno(EAFNOSUPPORT),
    ]),
    ALLOW_INSTRUCTION,
  ])
}

type Architecture = { readonly auditArch: number; readonly column: 0 | 1; readonly hasX32?: true }

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: { auditArch: 0xc000003e, column: 0, hasX32: true },
  arm64: { auditArch: 0xc00000b7, column: 1 },
}

const EPERM = 1
const ENOSYS = 38
const EOPNOTSUPP = 95
const EAFNOSUPPORT = 97

type SyscallNumbers = readonly [x64: number | undefined, arm64: number | undefined]

interface DeniedSyscall {
  readonly name: string
  readonly number: SyscallNumbers
  /** The errno that programs without the call handle best. */
  readonly error?: number
}

const DENIED_SYSCALLS: readonly DeniedSyscall[] = [
  // Kernel keys.
  { name: 'add_key', number: [248, 217] },
  { name: 'request_key', number: [249, 218] },
  { name: 'keyctl', number: [250, 219] },
  // Mounts and namespaces. The flags of clone3 are in memory, where a filter cannot look; programs then use clone.
  { name: 'clone3', number: [435, 435], error: ENOSYS },
  { name: 'setns', number: [308, 268] },
  { name: 'mount', number: [165, 40] },
  { name: 'umount2', number: [166, 39] },
  { name: 'pivot_root', number: [155, 41] },
  { name: 'chroot', number: [161, 51] },
  { name: 'open_tree', number: [428, 428] },
  { name: 'move_mount', number: [429, 429] },
  { name: 'fsopen', number: [430, 430] },
  { name: 'fsconfig', number: [431, 431] },
  { name: 'fsmount', number: [432, 432] },
  { name: 'fspick', number: [433, 433] },
  { name: 'mount_setattr', number: [442, 442] },
  { name: 'open_tree_attr', number: [467, 467] },
  // Files by handle instead of by path.
  { name: 'name_to_handle_at', number: [303, 264], error: EOPNOTSUPP },
  { name: 'open_by_handle_at', number: [304, 265] },
  // Parts of the kernel that run programs, or that often had bugs.
  { name: 'bpf', number: [321, 280] },
  { name: 'perf_event_open', number: [298, 241] },
  { name: 'userfaultfd', number: [323, 282] },
  { name: 'io_uring_setup', number: [425, 425], error: ENOSYS },
  { name: 'io_uring_enter', number: [426, 426], error: ENOSYS },
  { name: 'io_uring_register', number: [427, 427], error: ENOSYS },
  { name: 'init_module', number: [175, 105] },
  { name: 'finit_module', number: [313, 273] },
  { name: 'delete_module', number: [176, 106] },
  { name: 'kexec_load', number: [246, 104] },
  { name: 'kexec_file_load', number: [320, 294] },
  { name: 'fanotify_init', number: [300, 262] },
  { name: 'lookup_dcookie', number: [212, 18] },
  { name: 'uselib', number: [134, undefined] },
  { name: 'nfsservctl', number: [180, 42] },
  { name: 'modify_ldt', number: [154, undefined] },
  // The machine as a whole.
  { name: 'reboot', number: [169, 142] },
  { name: 'swapon', number: [167, 224] },
  { name: 'swapoff', number: [168, 225] },
  { name: 'acct', number: [163, 89] },
  { name: 'quotactl', number: [179, 60] },
  { name: 'quotactl_fd', number: [443, 443] },
  { name: 'settimeofday', number: [164, 170] },
  { name: 'clock_settime', number: [227, 112] },
  { name: 'clock_adjtime', number: [305, 266] },
  { name: 'adjtimex', number: [159, 171] },
  { name: 'sethostname', number: [170, 161] },
  { name: 'setdomainname', number: [171, 162] },
  { name: 'iopl', number: [172, undefined] },
  { name: 'ioperm', number: [173, undefined] },
  { name: 'vhangup', number: [153, 58] },
  { name: 'syslog', number: [103, 116] },
]

const CLONE_SYSCALL: SyscallNumbers = [56, 220]
const UNSHARE_SYSCALL: SyscallNumbers = [272, 97]
const IOCTL_SYSCALL: SyscallNumbers = [16, 29]
const SOCKET_SYSCALL: SyscallNumbers = [41, 198]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const CLONE_NAMESPACE_FLAGS = 0x7e020000
/** CLONE_NEWTIME, which is part of the signal number in clone. */
const CLONE_NEWTIME = 0x80

/** TIOCSTI and TIOCLINUX simulate input to a terminal. */
const TERMINAL_INPUT_REQUESTS = [0x5412, 0x541c]

const AF_UNIX = 1
/** AF_INET, AF_INET6 and AF_NETLINK, which lists interfaces. Others bypass network namespaces, or are rarely used. */
const ALLOWED_SOCKET_FAMILIES = [2, 10, 16]

const X32_SYSCALL_BIT = 0x40000000
/** Offsets in the data of the filter: the system call, the architecture, and the low half of an argument. */
const SYSCALL_NUMBER_OFFSET = 0
const ARCH_OFFSET = 4
const argumentOffset = (index: number): number => 16 + 8 * index

const ALLOW_INSTRUCTION = instruction(0x06, 0, 0, 0x7fff0000)

const returnErrno = (error: number): Buffer => instruction(0x06, 0, 0, 0x00050000 | error)
const loadWord = (offset: number): Buffer => instruction(0x20, 0, 0, offset)
const jumpIfEqual = (value: number, yes: number, no: number): Buffer => instruction(0x15, yes, no, value)
const jumpIfAnyBit = (bits: number, yes: number, no: number): Buffer => instruction(0x45, yes, no, bits)

/** Instructions for one call; afterwards the number is loaded again. */
function forSyscall(number: number | undefined, body: readonly Buffer[]): Buffer[] {
  return number === undefined ? [] : [jumpIfEqual(number, 0, body.length + 1), ...body, loadWord(SYSCALL_NUMBER_OFFSET)]
}

function instruction(code: number, yes: number, no: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(yes, 2)
  bytes.writeUInt8(no, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
