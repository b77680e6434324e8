import { createTypeChecker } from '../field-types.ts'

export const checkChatTypes = createTypeChecker({
  string:
    'model role type text name description content refusal reasoning reasoning_content id tool_call_id arguments input url image_url data format filename file_data prompt_cache_key prompt_cache_retention reasoning_effort tool_choice stop syntax definition ttl function_call.name',
  boolean: 'stream include_usage strict parallel_tool_calls defer_loading',
  number: 'max_tokens max_completion_tokens temperature top_p',
  object:
    'stream_options function custom parameters tool_choice arguments image_url input_audio file format function_call response_format json_schema schema prompt_cache_options allowed_tools format.grammar',
  objects: 'messages tools tool_calls',
  list: 'content reasoning_details stop',
  opaque: 'parameters schema arguments reasoning_details',
})
