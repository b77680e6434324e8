import type { OutputFormat } from '../line/args.ts'
import { bounded } from './bounded.ts'
import { jsonOutput } from './json.ts'
import type { Output, Sink } from './output.ts'
import { streamJsonOutput } from './stream-json.ts'
import { textOutput } from './text.ts'

/** Prints a run on standard output, in the form that was asked for. */
export function outputFor(format: OutputFormat): Output {
  return OUTPUTS[format](STANDARD)
}

/** The standard streams. */
export const STANDARD: Sink = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(bounded(text)),
}

const OUTPUTS: Readonly<Record<OutputFormat, (sink: Sink) => Output>> = {
  text: textOutput,
  json: jsonOutput,
  'stream-json': streamJsonOutput,
}
