import { playFaults } from '../support/faults.ts'
import { sessionPlays } from './session.ts'

playFaults('faults around a session', sessionPlays)
