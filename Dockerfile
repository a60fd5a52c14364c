# The playground in a container: user 1000, port 7860, as a Docker Space wants it.
#
#   docker build -t playground:cuda .                                    the usual torch, which brings CUDA along
#   docker build -t playground --build-arg TORCH_INDEX=ADDRESS .         torch from another index, such as its CPU builds
#
# torch's CUDA wheels bring their own libraries, so both variants share one base; only the driver comes from the host.
FROM python:3.11-slim

ARG TORCH_INDEX=

RUN useradd --create-home --uid 1000 user
WORKDIR /home/user/app
RUN chown user:user /home/user/app

# First what seldom changes: torch from its own index, then all other dependencies.
COPY pyproject.toml ./
RUN python -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']))" > /tmp/requirements.txt \
    && grep '^torch' /tmp/requirements.txt > /tmp/torch.txt \
    && pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -r /tmp/torch.txt \
    && pip install --no-cache-dir -r /tmp/requirements.txt \
    && rm /tmp/requirements.txt /tmp/torch.txt

COPY --chown=user:user app.py README.md ./
COPY --chown=user:user playground ./playground
COPY --chown=user:user static ./static
RUN pip install --no-cache-dir --no-deps .

USER user
ENV HOME=/home/user \
    HF_HOME=/home/user/.cache/huggingface \
    GRADIO_ANALYTICS_ENABLED=False \
    GRADIO_TEMP_DIR=/tmp/gradio \
    PLAYGROUND_HOST=0.0.0.0 \
    PLAYGROUND_PORT=7860 \
    PYTHONUNBUFFERED=1
EXPOSE 7860

# /health answers while the model is still loading, and with 503 once that has failed.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD python -c "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['PLAYGROUND_PORT'] + '/health', timeout=4)"

CMD ["python", "app.py"]
