// Practice: the workbench as it is, handing in to another address, with hints, and a comparison at the end.

import "./practice/address.js"; // before the workbench looks at the page
import "./workbench.js";
import "./practice/coach.js";
import "./practice/revealed.js";
