import { anthropicKit } from '../support/mutate-anthropic.ts'
import { chatKit } from '../support/mutate-chat.ts'
import { mutationSuite } from '../support/mutate-suite.ts'

mutationSuite([chatKit, 28], [anthropicKit, 18])
