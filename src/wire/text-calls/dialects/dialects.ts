import type { TextCallDialect } from './dialect.ts'
import { readGemmaCall } from './gemma.ts'
import { readHarmonyCall } from './harmony.ts'
import { readMistralCall, readPythonTagCall } from './mistral-llama.ts'
import { readMinimaxCall, MINIMAX_CALL_MARKER } from './minimax.ts'
import { readDsmlTagCall, readFunctionTagCall, readInvokeTagCall } from './xml-tags.ts'
import { readTokenCall } from './special-tokens.ts'
import { readWrappedCall } from './tool-call-tag.ts'

const NAMESPACES = ['', 'minimax:', 'antml:']
const WRAPPER_TAGS = ['tool_call', 'tool_calls', 'function_call', 'function_calls']
const HARMONY_PREFIXES = ['', 'assistant ', 'analysis ', 'commentary ', 'assistantcommentary ', 'assistantanalysis ']

export const TEXT_CALL_DIALECTS: readonly TextCallDialect[] = [
  {
    id: 'tool_call',
    startMarkers: [
      ...NAMESPACES.flatMap((space) => WRAPPER_TAGS.map((name) => `<${space}${name}>`)),
      '<|tool_call|>',
      '<|tool_calls|>',
      '[TOOL_CALL]',
    ],
    read: readWrappedCall,
  },
  { id: 'function', startMarkers: ['<function='], read: readFunctionTagCall },
  { id: 'invoke', startMarkers: NAMESPACES.map((space) => `<${space}invoke `), read: readInvokeTagCall },
  { id: 'dsml', startMarkers: ['<|DSML|'], read: readDsmlTagCall },
  { id: 'minimax', startMarkers: [MINIMAX_CALL_MARKER], read: readMinimaxCall },
  {
    id: 'tokens',
    startMarkers: ['tool_calls_section', 'tool_call_section', 'tool_calls', 'tool_call'].map(
      (name) => `<|${name}_begin|>`,
    ),
    read: readTokenCall,
  },
  {
    id: 'harmony',
    startMarkers: [
      '<|start|>assistant',
      '<|channel|>',
      'assistant<|channel|>',
      ...HARMONY_PREFIXES.map((words) => `${words}to=functions.`),
    ],
    read: readHarmonyCall,
  },
  { id: 'mistral', startMarkers: ['[TOOL_CALLS]'], read: readMistralCall },
  { id: 'python_tag', startMarkers: ['<|python_tag|>'], read: readPythonTagCall },
  { id: 'gemma', startMarkers: ['<|tool_call>', '<start_function_call>'], read: readGemmaCall },
]
