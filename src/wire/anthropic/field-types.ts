import { createTypeChecker } from '../field-types.ts'

export const checkAnthropicTypes = createTypeChecker({
  string:
    'model role type text name description ttl system content source media_type data url file_id signature thinking id tool_use_id tool_name effort',
  boolean: 'stream defer_loading is_error disable_parallel_tool_use',
  number: 'max_tokens temperature top_p budget_tokens',
  object: '.thinking output_config tool_choice cache_control input_schema source content tool definition format schema',
  objects: 'messages system tools content',
  opaque: 'input_schema schema',
})
