import { wireIds } from '../../../wire/wires.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const WIRE_COMMAND = {
  summary: 'decode and encode provider messages, for debugging',
  usage: ['<decode | encode | read> [options]'],
  about: ['Debugging tools for provider messages. They use no network; docs/wire.md describes the formats.'],
  options: {
    wire: {
      takes: '<wire>',
      from: wireIds,
      about: `API format: ${wireIds.join(', ')}; with --batch, decode uses that of each recording`,
    },
    file: { takes: '<file>', from: 'file', about: 'input file; default: standard input' },
    batch: { takes: '<folder>', from: 'folder', about: 'process every recording in a folder, one JSON line each' },
    tools: {
      takes: '<file>',
      from: 'file',
      about: 'decode: the declared tools, a JSON list of {name, description, schema}',
    },
    status: { takes: '<number>', about: 'decode: HTTP status of the response; default 200' },
    'content-type': {
      takes: '<type>',
      about: 'decode: content type of the response; default: detected from the first byte',
    },
    model: { takes: '<name>', about: 'encode: the model named in the body' },
    ...HELP_OPTION,
  },
  subcommands: {
    decode: {
      about: "decode a provider's response: its text, and which calls can run and which cannot, and why",
      options: ['wire', 'file', 'batch', 'tools', 'status', 'content-type'],
      examples: ['curl -sN … | dragoman wire decode --wire openai-chat', 'dragoman wire decode --batch recordings'],
    },
    encode: {
      about: 'encode a conversation as a request body',
      options: ['wire', 'file', 'batch', 'model'],
      examples: ['dragoman wire encode --wire anthropic --file conversation.json'],
    },
    read: {
      about: 'read a request body back into a conversation',
      options: ['wire', 'file'],
      examples: ['dragoman wire read --wire gemini --file body.json | dragoman wire encode --wire openai-responses'],
    },
  },
} as const satisfies CliCommandSpec
