import AlcedoCore
public import AlcedoLibc
public import AlcedoRuntime

/// A value that many threads can read at the same time, with a separate value for each reader lane.
///
/// A reader locks one lane, which its thread number selects, so that readers in different lanes do not share a cache
/// line. A writer locks all lanes, which makes a write slower by some nanoseconds per lane. With one lane, this is a
/// plain lock. The technique is known as a big-reader lock: "brlock" in Linux 2.4, later "lglock". Hold the lock for a
/// few memory accesses only. It is not recursive.
///
/// `@unchecked` because of the pointers: `value` is written while all lanes are locked, and read while at least one
/// lane is locked. A lane's lock protects the lane's own value.
@usableFromInline
struct ReadMostlyLock<Value: Sendable, LaneValue: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline typealias Lane = Locked<LaneValue>

    /// The alignment of a lane: two cache lines, because processors fetch them in pairs.
    @inlinable
    static var alignment: Int { 128 }

    @usableFromInline let lanes: UnsafeMutableRawPointer
    @usableFromInline let laneStride: Int
    /// The number of lanes, a power of two.
    @usableFromInline let laneCount: Int
    @usableFromInline let value: UnsafeMutablePointer<Value>
    /// The numbers of threads. A stored property, so that reading it needs no check for lazy initialization.
    @usableFromInline let threadNumber = ThreadNumber()

    /// Creates a lock for a value.
    ///
    /// - Parameters:
    ///   - initial: The initial value.
    ///   - laneValue: The initial value of every lane.
    ///   - laneCount: The number of lanes, rounded up to a power of two.
    @inlinable
    init(_ initial: consuming Value, laneValue: LaneValue, laneCount: Int) {
        var count = 1
        while count < laneCount { count *= 2 }
        self.laneCount = count
        laneStride = (MemoryLayout<Lane>.stride + Self.alignment - 1) / Self.alignment * Self.alignment
        lanes = .allocate(byteCount: laneStride * count, alignment: Self.alignment)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
        for number in 0..<count { lane(number).initialize(to: Locked(laneValue)) }
    }

    deinit {
        for number in 0..<laneCount { lane(number).deinitialize(count: 1) }
        lanes.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` while no thread writes. Other threads may read.
    ///
    /// `body` has exclusive access to the value of its lane. It receives the shared value as a pointer, so that reading
    /// one part does not copy or retain the rest. The pointer is valid only within `body`.
    @inlinable
    borrowing func withSharedLock<Result>(_ body: (UnsafePointer<Value>, inout LaneValue) -> Result) -> Result {
        let number = laneCount == 1 ? 0 : threadNumber.current & (laneCount &- 1)
        return lane(number).pointee.withLock { body(UnsafePointer(value), &$0) }
    }

    /// Runs `body` with exclusive access to the value and to the value of the first lane.
    @inlinable
    borrowing func withLock<Result>(_ body: (inout Value, inout LaneValue) -> Result) -> Result {
        lane(0).pointee.withLock { first in withLanes(from: 1) { body(&value.pointee, &first) } }
    }

    /// Runs `body` with exclusive access to the value, and with the values of all lanes.
    @inlinable
    borrowing func withAllLanes<Result>(_ body: (inout Value, [LaneValue]) -> Result) -> Result {
        collectLanes([]) { body(&value.pointee, $0) }
    }

    /// Runs `body` while the lanes beginning with a number are locked. All writers lock the lanes in the same order.
    @inlinable
    borrowing func withLanes<Result>(from number: Int, _ body: () -> Result) -> Result {
        number == laneCount ? body() : lane(number).pointee.withLock { _ in withLanes(from: number + 1, body) }
    }

    /// Runs `body` with the given values and those of the remaining lanes, while these lanes are locked.
    @inlinable
    borrowing func collectLanes<Result>(_ values: [LaneValue], _ body: ([LaneValue]) -> Result) -> Result {
        values.count == laneCount
            ? body(values) : lane(values.count).pointee.withLock { collectLanes(values + [$0], body) }
    }

    /// Returns a pointer to a lane. The multiplication cannot overflow, because the lanes are in memory.
    @inlinable
    func lane(_ number: Int) -> UnsafeMutablePointer<Lane> {
        (lanes + number &* laneStride).assumingMemoryBound(to: Lane.self)
    }
}

/// A source of thread numbers. Each thread receives the next number at its first request, so that threads with
/// consecutive numbers use different lanes.
@usableFromInline
struct ThreadNumber: Sendable {
    /// The key of the thread-specific value, which is the thread's number plus one; nil if the process has no keys
    /// left.
    private static let shared: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
    private static let last = Locked(0)

    @usableFromInline let key: pthread_key_t?

    @usableFromInline init() { key = Self.shared }

    /// The calling thread's number, counted from 0. It stays the same for the life of the thread, and is 0 for every
    /// thread if the process has no keys left. Reading it takes a few nanoseconds.
    @inlinable var current: Int {
        guard let key else { return 0 }
        let known = Int(bitPattern: pthread_getspecific(key))
        return known > 0 ? known - 1 : Self.enroll(key)
    }

    @usableFromInline
    static func enroll(_ key: pthread_key_t) -> Int {
        let number = last.withLock { last in
            last += 1
            return last
        }
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number - 1
    }
}
