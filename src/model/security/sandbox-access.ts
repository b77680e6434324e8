/** What a command is granted beyond the sandbox: network access inside it, or running outside it. */
export type SandboxAccess = 'network' | 'outside'

/** What the sandbox blocked for a failed command; `files` are those that it hides or makes read-only. */
export type SandboxBlock = 'network' | 'files'
