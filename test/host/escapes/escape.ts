/**
 * A way out of the sandbox that somebody may try. The commands run one after the other in one session. Nobody has to say what
 * success would be: after each attempt everything is looked at that must not have changed or been seen.
 *
 * Variables in commands: OUT a folder outside, H the home folder (with keys), SCRATCH our own folder, SOCK a socket file
 * outside (SOCK_INSIDE one in the workspace, SOCK_ABSTRACT one without a file), PORT a port of the machine's loopback, PID a process outside, NODE and PYTHON programs.
 * What can only be seen from inside prints $WON.
 */
export interface Escape {
  readonly name: string
  readonly commands: readonly string[]
  /** The network is open. */
  readonly network?: true
  /** The home folder is the workspace. */
  readonly atHome?: true
  /** The workspace is a git repository. */
  readonly git?: true
  /** Shell commands that prepare the place, outside of the sandbox. */
  readonly before?: string
  /** Shell commands of the person, afterwards, outside of the sandbox. */
  readonly after?: string
  /** A folder of the workspace that programs are looked for in. */
  readonly onPath?: string
  /** The last command leaves something running; it gets this many milliseconds before everything is closed. */
  readonly lingers?: number
  /** The commands are run by an MCP server, which has the network unless this says otherwise. */
  readonly asServer?: true
}
