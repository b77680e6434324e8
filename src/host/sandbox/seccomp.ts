/**
 * The system calls that a command in the sandbox cannot make, as a program for the kernel's packet filter, which bubblewrap
 * loads. It is a second wall: what it refuses needs rights that a command does not have, but errors in these parts of the
 * kernel have given such rights before, and the keys in the kernel's keyring belong to no namespace. Debuggers go on to work:
 * `ptrace` reaches only processes of the same box.
 */

/** What differs between boxes. */
export interface FilterOptions {
  /** May sockets of the local kind be made? They reach servers of the machine where its network is shared. */
  readonly localSockets: boolean
}

/** The compiled filter for a processor as Node names it; nothing for one whose numbers are not known here. */
export function seccompFilter(arch: string, { localSockets }: FilterOptions): Buffer | undefined {
  const machine = MACHINES[arch]
  if (!machine) return undefined
  const families = localSockets ? [AF_UNIX, ...OPEN_FAMILIES] : OPEN_FAMILIES
  const program = [
    load(ARCH),
    jumpIfEqual(machine.audit, 1, 0),
    answer(ENOSYS),
    load(NUMBER),
    // Numbers of a second kind (x32) lead to the same calls, and would pass by all that follows.
    ...(machine.hasX32 ? [jumpIfAnyBit(X32, 0, 1), answer(ENOSYS)] : []),
    ...DENIED.flatMap(({ number, error = EPERM }) => {
      const own = number[machine.column]
      return own === undefined ? [] : [jumpIfEqual(own, 0, 1), answer(error)]
    }),
    ...whenCalled(CLONE[machine.column], [load(argument(0)), jumpIfAnyBit(NEW_NAMESPACES, 0, 1), answer(EPERM)]),
    ...whenCalled(UNSHARE[machine.column], [
      load(argument(0)),
      jumpIfAnyBit(NEW_NAMESPACES | NEW_TIME, 0, 1),
      answer(EPERM),
    ]),
    ...whenCalled(IOCTL[machine.column], [
      load(argument(1)),
      ...TERMINAL_INPUT.flatMap((request) => [jumpIfEqual(request, 0, 1), answer(EPERM)]),
    ]),
    ...whenCalled(SOCKET[machine.column], [
      load(argument(0)),
      ...families.flatMap((family) => [jumpIfEqual(family, 0, 1), ALLOW]),
      answer(EAFNOSUPPORT),
    ]),
    ALLOW,
  ]
  return Buffer.concat(program)
}

interface Machine {
  readonly audit: number
  readonly column: 0 | 1
  readonly hasX32?: true
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { audit: 0xc000003e, column: 0, hasX32: true },
  arm64: { audit: 0xc00000b7, column: 1 },
}

const EPERM = 1
const ENOSYS = 38
const EOPNOTSUPP = 95
const EAFNOSUPPORT = 97

type Numbers = readonly [x64: number | undefined, arm64: number | undefined]

interface Denied {
  readonly name: string
  readonly number: Numbers
  /** What the call says; programs that can do without it understand this best. */
  readonly error?: number
}

const DENIED: readonly Denied[] = [
  // Keys of the kernel.
  { name: 'add_key', number: [248, 217] },
  { name: 'request_key', number: [249, 218] },
  { name: 'keyctl', number: [250, 219] },
  // Mounts and namespaces. The flags of clone3 lie in memory, where a filter cannot look; programs then use clone.
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
  // Files by number instead of by path.
  { name: 'name_to_handle_at', number: [303, 264], error: EOPNOTSUPP },
  { name: 'open_by_handle_at', number: [304, 265] },
  // Parts of the kernel that programs are run in, or that were broken often.
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

const CLONE: Numbers = [56, 220]
const UNSHARE: Numbers = [272, 97]
const IOCTL: Numbers = [16, 29]
const SOCKET: Numbers = [41, 198]

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e020000
/** CLONE_NEWTIME, which is part of a signal's number to clone. */
const NEW_TIME = 0x80

/** TIOCSTI and TIOCLINUX put words into a terminal as if a person had typed them. */
const TERMINAL_INPUT = [0x5412, 0x541c]

const AF_UNIX = 1
/** AF_INET, AF_INET6 and AF_NETLINK, which lists interfaces. Others reach around network namespaces, or are seldom used. */
const OPEN_FAMILIES = [2, 10, 16]

const X32 = 0x40000000
/** Where things are in what the filter sees: the number of the call, the processor, and the low half of an argument. */
const NUMBER = 0
const ARCH = 4
const argument = (index: number): number => 16 + 8 * index

const ALLOW = instruction(0x06, 0, 0, 0x7fff0000)

function answer(error: number): Buffer {
  return instruction(0x06, 0, 0, 0x00050000 | error)
}

function load(offset: number): Buffer {
  return instruction(0x20, 0, 0, offset)
}

function jumpIfEqual(value: number, yes: number, no: number): Buffer {
  return instruction(0x15, yes, no, value)
}

function jumpIfAnyBit(bits: number, yes: number, no: number): Buffer {
  return instruction(0x45, yes, no, bits)
}

/** Does something for one call; afterwards the number is loaded again. */
function whenCalled(number: number | undefined, body: readonly Buffer[]): Buffer[] {
  return number === undefined ? [] : [jumpIfEqual(number, 0, body.length + 1), ...body, load(NUMBER)]
}

function instruction(code: number, yes: number, no: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(yes, 2)
  bytes.writeUInt8(no, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
