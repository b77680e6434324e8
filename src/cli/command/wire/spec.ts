import { wireIds } from '../../../wire/wires.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman wire`. */
export const WIRE_COMMAND = {
  usage: ['<decode | encode | read> [options]'],
  about: ['For people who debug a provider. Nothing here touches the network; docs/wire.md tells of the forms.'],
  options: {
    wire: {
      takes: '<wire>',
      from: wireIds,
      about: `which language: ${wireIds.join(', ')} (with --batch, decode takes each recording's own)`,
    },
    file: { takes: '<file>', from: 'file', about: 'the input; standard input without it' },
    batch: { takes: '<folder>', from: 'folder', about: 'every recording in a folder, one JSON line each' },
    tools: {
      takes: '<file>',
      from: 'file',
      about: 'decode: the tools that were declared, a JSON list of {name, description, schema}',
    },
    status: { takes: '<number>', about: 'decode: the HTTP status of the answer (200)' },
    'content-type': {
      takes: '<type>',
      about: 'decode: the content type of the answer (told by its first byte without it)',
    },
    model: { takes: '<name>', about: 'encode: the model named in the body' },
    ...HELP_OPTION,
  },
  subcommands: {
    decode: {
      about: "reads a provider's answer: what it says, which calls may run, which may not and why",
      options: ['wire', 'file', 'batch', 'tools', 'status', 'content-type'],
      examples: ['curl -sN … | dragoman wire decode --wire openai-chat', 'dragoman wire decode --batch recordings'],
    },
    encode: {
      about: 'writes the request body for a conversation',
      options: ['wire', 'file', 'batch', 'model'],
      examples: ['dragoman wire encode --wire anthropic --file conversation.json'],
    },
    read: {
      about: 'reads a request body back into a conversation',
      options: ['wire', 'file'],
      examples: ['dragoman wire read --wire gemini --file body.json | dragoman wire encode --wire openai-responses'],
    },
  },
  examples: [
    'curl -sN … | dragoman wire decode --wire openai-chat',
    'dragoman wire encode --wire anthropic --file conversation.json',
    'dragoman wire read --wire gemini --file body.json | dragoman wire encode --wire openai-responses',
  ],
} as const satisfies CliCommandSpec
