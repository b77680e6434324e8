import { createTypeChecker } from '../field-types.ts'

export const checkInteractionsTypes = createTypeChecker({
  string:
    'model system_instruction input type name description text mime_type data uri id call_id signature content mode thinking_level thinking_summaries tool_choice result previous_interaction_id',
  boolean: 'store stream is_error',
  number: 'max_output_tokens temperature top_p',
  object: 'input generation_config tool_choice allowed_tools parameters arguments schema content result',
  objects: 'tools input content summary',
  strings: 'allowed_tools.tools stop_sequences',
  list: 'result',
  opaque: 'parameters arguments schema result',
})
