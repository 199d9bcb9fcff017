public import AlcedoCore

extension ImagePipeline {
    /// The parts a pipeline is made of. Every one is a protocol value: the pipeline names no concrete type.
    public struct Configuration: Sendable {
        /// Fetches bytes.
        public var downloader: any Downloading
        /// The formats that are decoded.
        public var codecs: CodecRegistry
        /// Decoded images; nil keeps none.
        public var memoryCache: (any MemoryCaching)?
        /// Bytes as they arrived; nil keeps none.
        public var diskCache: (any DataCaching)?
        /// Is told of every step.
        public var observer: (any PipelineObserving)?
        /// Times the steps.
        public var clock: any TimeSource
        /// Threads that decode and process. Default: 2.
        public var decodingWidth: Int
        /// Most bytes that decoding holds at once in this pipeline, pictures it returned not counted: what does not fit
        /// beside the others waits, without a thread, the more urgent first. An image that needs more than all of them
        /// is decoded alone. Default: 512 MiB.
        public var decodingByteBudget: Int
        /// Most bytes that wait to be written to the disk cache; a load that would exceed them waits for its own write.
        /// Default: 64 MiB.
        public var pendingWriteLimit: Int

        public init(
            downloader: any Downloading,
            codecs: CodecRegistry,
            memoryCache: (any MemoryCaching)? = nil,
            diskCache: (any DataCaching)? = nil,
            observer: (any PipelineObserving)? = nil,
            clock: any TimeSource = SystemClock(),
            decodingWidth: Int = 2,
            decodingByteBudget: Int = 512 << 20,
            pendingWriteLimit: Int = 64 << 20
        ) {
            self.downloader = downloader
            self.codecs = codecs
            self.memoryCache = memoryCache
            self.diskCache = diskCache
            self.observer = observer
            self.clock = clock
            self.decodingWidth = decodingWidth
            self.decodingByteBudget = decodingByteBudget
            self.pendingWriteLimit = pendingWriteLimit
        }
    }
}
