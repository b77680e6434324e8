/** What a command may do beyond the sandbox: reach the network from inside, or run outside of it. */
export type SandboxAccess = 'network' | 'outside'

/** What the sandbox kept a failed command from: the network, or files that it hides or makes read-only. */
export type SandboxBlock = 'network' | 'files'
