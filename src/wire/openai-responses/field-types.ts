import { createTypeChecker } from '../field-types.ts'

export const checkResponsesTypes = createTypeChecker({
  string:
    'model instructions input type role text refusal name namespace description content call_id id status arguments encrypted_content effort summary prompt_cache_key prompt_cache_retention previous_response_id tool_choice image_url file_data file_url filename execution mode syntax definition phase',
  boolean: 'stream store strict defer_loading parallel_tool_calls',
  number: 'max_output_tokens temperature top_p',
  object: '.text reasoning format parameters arguments schema tool_choice prompt_cache_options',
  objects: 'input tools content summary',
  list: 'include content annotations',
  opaque: 'parameters schema arguments',
})
