import type { Dialect } from './dialect.ts'
import { readGemma } from './gemma.ts'
import { readHarmony } from './harmony.ts'
import { readMistral, readPythonTag } from './mistral-llama.ts'
import { readMinimax, SPACE_TOKEN } from './minimax.ts'
import { readDsml, readFunction, readInvoke } from './tags.ts'
import { readTokens } from './tokens.ts'
import { readWrapped } from './wrapped.ts'

const NAMESPACES = ['', 'minimax:', 'antml:']
const WRAPPERS = ['tool_call', 'tool_calls', 'function_call', 'function_calls']
const SPEAKERS = ['', 'assistant', 'analysis', 'commentary', 'assistantcommentary', 'assistantanalysis']

/** All forms of written calls. A new one is one entry here. */
export const DIALECTS: readonly Dialect[] = [
  {
    id: 'tool_call',
    opens: [
      ...NAMESPACES.flatMap((space) => WRAPPERS.map((name) => `<${space}${name}>`)),
      '<|tool_call|>',
      '<|tool_calls|>',
      '[TOOL_CALL]',
    ],
    read: readWrapped,
  },
  { id: 'function', opens: ['<function='], read: readFunction },
  { id: 'invoke', opens: NAMESPACES.map((space) => `<${space}invoke `), read: readInvoke },
  { id: 'dsml', opens: ['<|DSML|'], read: readDsml },
  { id: 'minimax', opens: [SPACE_TOKEN], read: readMinimax },
  {
    id: 'tokens',
    opens: [
      '<|tool_calls_section_begin|>',
      '<|tool_call_section_begin|>',
      '<|tool_calls_begin|>',
      '<|tool_call_begin|>',
    ],
    read: readTokens,
  },
  {
    id: 'harmony',
    opens: [
      '<|start|>assistant',
      '<|channel|>',
      'assistant<|channel|>',
      ...SPEAKERS.flatMap((words) => (words === '' ? ['to=functions.'] : [`${words} to=functions.`])),
    ],
    read: readHarmony,
  },
  { id: 'mistral', opens: ['[TOOL_CALLS]'], read: readMistral },
  { id: 'python_tag', opens: ['<|python_tag|>'], read: readPythonTag },
  { id: 'gemma', opens: ['<|tool_call>', '<start_function_call>'], read: readGemma },
]
