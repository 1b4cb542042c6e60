import { askLive } from "./live_answer.js";

askLive();
