import type { ToolOutput } from './tool.ts'

/** A failed call: the model and the user read the same message. */
export function createErrorOutput(message: string, type: string): ToolOutput {
  return { content: message, display: message, error: { message, type } }
}
