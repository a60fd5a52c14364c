// @ts-check
/**
 * The wire: the shape of every event, as playground/events.py writes it, and where the server is.
 *
 * @typedef {Record<string, string>} Texts  token id → piece of text, for the ids of its own event
 *
 * @typedef {object} Sampler
 * @property {string} [name]  of its rule; beside the five that follow it has this rule's parameter
 * @property {number} [entropy_bound]
 * @property {number} [top_probability]
 * @property {number} [margin]
 * @property {number} [k]
 * @property {string} [kappa]
 * @property {number} t_max
 * @property {number} t_min
 * @property {number} max_denoising_steps
 * @property {number} confidence_threshold
 * @property {number} stability_threshold
 *
 * @typedef {object} Decoding
 * @property {number} temperature
 * @property {number} top_k
 * @property {number} top_p
 *
 * An edit just before a step (canvas and step), before a token (index), or of the whole run (infill).
 * @typedef {object} Edit
 * @property {"set" | "pin" | "unpin" | "renoise" | "canvas" | "infill"} type
 * @property {number} [canvas]
 * @property {number} [step]
 * @property {number} [index]
 * @property {number} [start]
 * @property {number} [length]
 * @property {string | null} [text]
 * @property {number[] | null} [ids]
 * @property {number} [noise]
 * @property {Record<string, number>} [sampler]
 * @property {Record<string, number>} [decoding]
 *
 * @typedef {{type: "image" | "file", sha256: string}} Upload
 * @typedef {{type: "text", text: string} | Upload} Part
 * @typedef {string | Part[]} Content
 *
 * @typedef {object} Recipe
 * @property {string} [model]
 * @property {"diffusion" | "autoregressive"} mode
 * @property {{role: string, content: Content}[]} messages
 * @property {boolean} [thinking]
 * @property {number} seed
 * @property {number} max_new_tokens
 * @property {Sampler} sampler
 * @property {Decoding} decoding
 * @property {Edit[]} [edits]
 *
 * @typedef {object} RunStarted
 * @property {"run_started"} type
 * @property {string} run
 * @property {number} seq
 * @property {Recipe} recipe
 * @property {string} model_revision
 * @property {number} canvas_length
 * @property {number} vocab_size
 * @property {number[]} prompt_ids
 * @property {number[]} end_ids
 * @property {number[] | null} [channel_ids]  the markers around a thought
 * @property {{sha256: string, width: number, height: number, tokens: number, thumbnail: string}[]} [pictures]
 * @property {string} device
 * @property {string} dtype
 * @property {boolean} [compiled]  the passes of its steps
 * @property {string} created
 * @property {string} version
 * @property {Texts} texts
 *
 * @typedef {object} Prefill
 * @property {"prefill"} type
 * @property {string} run
 * @property {number} seq
 * @property {number} tokens  of the prompt, encoded so far
 * @property {number} total
 * @property {number} ms
 * @property {number} device_ms
 *
 * @typedef {object} CanvasStarted
 * @property {"canvas_started"} type
 * @property {string} run
 * @property {number} seq
 * @property {number} canvas
 * @property {number[]} canvas_ids
 * @property {boolean[] | null} [pinned]
 * @property {Edit[]} [edits]
 * @property {number} [device_ms]
 * @property {Texts} texts
 *
 * @typedef {object} Step
 * @property {"step"} type
 * @property {string} run
 * @property {number} seq
 * @property {number} canvas
 * @property {number} step
 * @property {number} t
 * @property {number} temperature
 * @property {number | null} [entropy_bound]  the rule's parameter in force, as are the next four; the others' are null
 * @property {number | null} [top_probability]
 * @property {number | null} [margin]
 * @property {number | null} [k]
 * @property {number | null} [jump_probability]
 * @property {number} max_denoising_steps
 * @property {number} confidence_threshold
 * @property {number} stability_threshold
 * @property {number} mean_entropy
 * @property {number} stable_steps
 * @property {number} ms
 * @property {number} device_ms
 * @property {number[]} predicted
 * @property {number[]} sampled
 * @property {boolean[]} accepted
 * @property {number[]} entropy
 * @property {number[]} canvas_ids
 * @property {Edit[]} edits
 * @property {Texts} texts
 * @property {number[] | null} [fed_ids]
 * @property {boolean[] | null} [pinned]
 * @property {number[][] | null} [top_ids]
 * @property {number[][] | null} [top_probabilities]
 * @property {Object<string, string> | null} [top_texts]
 *
 * @typedef {object} Token
 * @property {"token"} type
 * @property {string} run
 * @property {number} seq
 * @property {number} index
 * @property {number} id
 * @property {number} temperature
 * @property {number} entropy
 * @property {number} logprob
 * @property {number} ms
 * @property {number} device_ms
 * @property {string} text
 * @property {string} [thought]
 * @property {Edit[]} edits
 * @property {Texts} texts
 * @property {number[] | null} [top_ids]
 * @property {number[] | null} [top_probabilities]
 * @property {Object<string, string> | null} [top_texts]
 *
 * @typedef {object} Loop
 * @property {number} start
 * @property {number} size
 * @property {number} times
 *
 * @typedef {object} CanvasCommitted
 * @property {"canvas_committed"} type
 * @property {string} run
 * @property {number} seq
 * @property {number} canvas
 * @property {number[]} ids
 * @property {string} text
 * @property {string} [thought]
 * @property {number} steps
 * @property {"stable_and_confident" | "max_denoising_steps"} stop_reason
 * @property {Loop | null} [loop]  that the canvas ends in
 * @property {number} ms
 * @property {number} device_ms
 * @property {Texts} texts
 *
 * @typedef {object} Metrics
 * @property {number} total_tokens
 * @property {number | null} total_denoising_steps
 * @property {number | null} effective_denoising_steps
 * @property {number | null} tokens_per_forward
 * @property {number} forward_passes
 * @property {number} canvases
 * @property {number} seconds
 * @property {number} prefill_seconds
 * @property {number} wall_seconds
 * @property {number | null} time_to_first_token
 * @property {number | null} tokens_per_second
 * @property {boolean} shared_device
 * @property {number} trimmed_tokens
 * @property {number} [loops]
 * @property {number} [thinking_tokens]
 * @property {number} [reused_tokens]
 *
 * @typedef {object} RunFinished
 * @property {"run_finished"} type
 * @property {string} run
 * @property {number} seq
 * @property {string} text
 * @property {string} thought
 * @property {Metrics} metrics
 * @property {"end_of_turn" | "max_new_tokens" | "cancelled" | "error"} stop_reason
 * @property {Loop | null} [loop]  that an autoregressive answer ends in
 * @property {Recipe} recipe
 *
 * @typedef {object} RunError
 * @property {"error"} type
 * @property {string} [run]
 * @property {number} [seq]
 * @property {string} code
 * @property {string} message
 * @property {string | null} [field]
 * @property {string | number | null} [ref]
 *
 * @typedef {RunStarted | Prefill | CanvasStarted | Step | Token | CanvasCommitted | RunFinished | RunError} RunEvent
 */

/**
 * An address of the server, under whatever path a proxy serves the page.
 * @param {string} path for example `api/models`
 */
export function address(path) {
  return new URL(path, document.baseURI);
}

/** The socket's address: ws or wss, as the page itself came. */
export function socketAddress() {
  const url = address("ws");
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  url.search = "";
  return url;
}

/**
 * Events of a trace file, one JSON object a line.
 * @param {string} jsonl
 * @returns {RunEvent[]}
 */
export function parseTrace(jsonl) {
  return jsonl
    .split("\n")
    .filter((line) => line.trim())
    .map((line, number) => {
      try {
        return JSON.parse(line);
      } catch {
        throw new Error(`Line ${number + 1} of the trace is not JSON.`);
      }
    });
}
