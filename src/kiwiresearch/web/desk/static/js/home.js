import { askLive } from "./live.js";
import { offerTitles } from "./titles.js";

askLive();
document.querySelectorAll("[data-titles]").forEach(offerTitles);
