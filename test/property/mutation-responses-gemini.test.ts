import { codeAssistKit, geminiKit } from '../support/mutate-gemini.ts'
import { responsesKit } from '../support/mutate-responses.ts'
import { mutationSuite } from '../support/mutate-suite.ts'

mutationSuite([responsesKit, 24], [geminiKit, 16], [codeAssistKit, 8])
