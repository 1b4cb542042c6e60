import { askLive } from "./live_answer.js";
import { offerTitles } from "./title_suggestions.js";

askLive();
document.querySelectorAll("[data-titles]").forEach(offerTitles);
