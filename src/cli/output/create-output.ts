import type { OutputFormat } from '../args/run-args.ts'
import { truncateLines } from './truncate-lines.ts'
import { createJsonOutput } from './json-output.ts'
import type { RunOutput, OutputOptions, OutputStreams } from './run-output.ts'
import { createStreamJsonOutput } from './stream-json-output.ts'
import { createTextOutput } from './text-output.ts'

export function createRunOutput(format: OutputFormat, options: OutputOptions = {}): RunOutput {
  return OUTPUT_FACTORIES[format](STANDARD_STREAMS, options)
}

export const STANDARD_STREAMS: OutputStreams = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(truncateLines(text)),
}

const OUTPUT_FACTORIES: Readonly<Record<OutputFormat, (sink: OutputStreams, options: OutputOptions) => RunOutput>> = {
  text: createTextOutput,
  json: createJsonOutput,
  'stream-json': createStreamJsonOutput,
}
