public import AlcedoCore
public import FoundationEssentials

extension ImagePipeline {
    /// Encodes an image on a thread of this pipeline, within the memory budget of its decodes.
    ///
    /// ```swift
    /// let image = try await pipeline.image(for: url)
    /// let thumbnail = try await pipeline.encode(image, to: ImageEncoder.webp(quality: 80))
    /// ```
    ///
    /// A program that encodes many images at once, such as a server, calls this method instead of
    /// ``/AlcedoCore/ImageEncoding/encode(_:)``, which blocks and reserves nothing. The encode counts with its
    /// ``/AlcedoCore/ImageEncoding/encodingByteCount(of:format:)``, and an animation with further memory for its
    /// frames, in ``Configuration/maximumDecodingByteCount``. While the budget has fewer bytes left, the encode waits
    /// without blocking a thread. One that needs more than the whole budget fails with `exceedsLimit`. An encode begins
    /// before waiting decodes of the same priority, so that decoded images do not accumulate.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - encoder: The encoder.
    ///   - priority: The priority of the work. Default: normal.
    /// - Throws: ``/AlcedoCore/ImageEncodingError``, the ``PipelineError`` `shutDown` after ``shutDown()``, or
    ///   `CancellationError` if the task is canceled before the encode begins.
    public func encode(
        _ image: DecodedImage, to encoder: any ImageEncoding, priority: LoadPriority = .normal
    ) async throws -> Data {
        try await encode(image, to: encoder, priority: priority, onBegin: {})
    }

    /// Encodes an image by an asynchronous encoder, within the memory budget of the decodes of this pipeline. Holds no
    /// thread while it waits for the encoder.
    ///
    /// The encode counts with its ``/AlcedoCore/AsyncImageEncoding/encodingByteCount(of:)``, and waits for the budget
    /// as one of a synchronous encoder does.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - encoder: The encoder.
    ///   - priority: The priority of the wait for the budget. Default: normal.
    /// - Throws: The error of the encoder, ``/AlcedoCore/ImageEncodingError`` `exceedsLimit` if it needs more than the
    ///   whole budget and `failed` after ``Configuration/asyncCodecTimeout``, the ``PipelineError`` `shutDown` after
    ///   ``shutDown()``, or `CancellationError` if the task is canceled.
    public func encode(
        _ image: DecodedImage, to encoder: any AsyncImageEncoding, priority: LoadPriority = .normal
    ) async throws -> Data {
        guard !isShutDown else { throw PipelineError.shutDown }
        return try await threads.encode(image, to: encoder, priority: priority)
    }

    /// Encodes an image as `encode(_:to:priority:)` does. Calls `onBegin` on a thread of this pipeline when the
    /// encode no longer waits for its thread and memory.
    package func encode(
        _ image: DecodedImage, to encoder: any ImageEncoding, priority: LoadPriority = .normal,
        onBegin: @escaping @Sendable () -> Void
    ) async throws -> Data {
        guard !isShutDown else { throw PipelineError.shutDown }
        return try await threads.encode(image, to: encoder, priority: priority, onBegin: onBegin)
    }
}
