import type { CommandResult } from '../../../host/host.ts'

export interface ShellResultFields extends Pick<CommandResult, 'exitCode' | 'signal' | 'background' | 'group'> {
  readonly command: string
  readonly directory: string | undefined
  readonly output: string
  readonly error: string | undefined
}

/** How a command ended, for the model: always the same eight fields, in the same order. */
export function formatCommandResult(result: ShellResultFields): string {
  const { command, directory, output, error, exitCode, signal, background, group } = result
  return [
    `Command: ${command}`,
    `Directory: ${directory ?? '(root)'}`,
    `Output: ${output.trim() === '' ? '(empty)' : output.replace(/\n+$/, '')}`,
    `Error: ${error ?? '(none)'}`,
    `Exit Code: ${exitCode ?? '(none)'}`,
    `Signal: ${signal ?? '(none)'}`,
    `Background PIDs: ${background.length === 0 ? '(none)' : background.join(', ')}`,
    `Process Group PGID: ${group ?? '(none)'}`,
  ].join('\n')
}
