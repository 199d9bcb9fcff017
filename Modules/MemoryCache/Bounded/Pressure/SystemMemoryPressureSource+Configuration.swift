extension SystemMemoryPressureSource {
    /// Where a source looks, and how often.
    public struct Configuration: Sendable, Equatable {
        /// Absolute path of the folder that stands for `/`, before the paths of the kernel's files below `/proc` and
        /// wherever control groups are mounted. Default: `/`. A test makes a folder of its own.
        public var root: String
        /// Time between two readings of the figures that do not announce themselves. Default: 5 seconds; at least a
        /// millisecond.
        public var interval: Duration
        /// How long a level holds after the last sign of it. Default: 10 seconds, which is longer than the two seconds
        /// after which lasting pressure is announced again.
        public var hold: Duration

        /// By default looks every five seconds at the machine it runs on.
        public init(root: String = "/", interval: Duration = .seconds(5), hold: Duration = .seconds(10)) {
            (self.root, self.interval, self.hold) = (root, interval, hold)
        }
    }
}
