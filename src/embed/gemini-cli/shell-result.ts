/** What is known of a command that ran. */
export interface ShellResult {
  readonly command: string
  readonly directory?: string | null | undefined
  readonly output?: string | null | undefined
  readonly error?: string | null | undefined
  readonly exitCode?: number | null | undefined
  readonly signal?: string | number | null | undefined
  readonly backgroundPids?: readonly number[] | null | undefined
  readonly pgid?: number | null | undefined
}

/** Always the same eight fields, in the same order. */
export function formatShellResult(result: ShellResult): string {
  return [
    `Command: ${result.command}`,
    `Directory: ${result.directory || '(root)'}`,
    `Output: ${result.output || '(empty)'}`,
    `Error: ${result.error || '(none)'}`,
    `Exit Code: ${result.exitCode ?? '(none)'}`,
    `Signal: ${result.signal ?? '(none)'}`,
    `Background PIDs: ${result.backgroundPids?.join(', ') || '(none)'}`,
    `Process Group PGID: ${result.pgid ?? '(none)'}`,
  ].join('\n')
}
