import { codeAssistKit, geminiKit } from '../support/mutate-gemini.ts'
import { responsesKit } from '../support/mutate-responses.ts'
import { mutationSuite } from '../support/mutate-suite.ts'

mutationSuite([responsesKit, 18], [geminiKit, 13], [codeAssistKit, 7])
