import Alcedo

/// The default stack where hits in memory are timed: what is in memory stays, also when the machine is short of it.
enum HitStack {
    static func makePipeline() -> ImagePipeline {
        var configuration = ImagePipeline.Configuration.standard(cacheDirectory: nil)
        configuration.memoryCache = ImageMemoryCache(limits: MemoryCacheLimits(), findsHeldValues: true)
        return ImagePipeline(configuration)
    }
}
